// cifar10 and cifar100 in their binary form, memory-mapped.
//
// Records without header: cifar10 {label, 3072 pixels} in data_batch_1.bin … data_batch_5.bin and
// test_batch.bin; cifar100 {coarse label, fine label, 3072 pixels} in train.bin and test.bin, of
// which the fine label counts. Pixels: red, green, blue planes of 32x32. Source: Krizhevsky 2009,
// the data sets' web page.
// Errors: InputError names file and reason; UsageError for a subset larger than the data set.
#pragma once

#include "elastic_runner/bad_samples.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/image_set.h"

namespace jabas {

// Reads every record's label, so that a wrong one is found before the training.
ImageSet open_cifar_images(const EngineOptions& options, BadSamples& bad);

}  // namespace jabas

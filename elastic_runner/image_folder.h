// images: a folder of JPEG and PNG files, FOLDER/train/CLASS/… and FOLDER/test/CLASS/…, decoded
// when they are read.
//
// Classes are the folders of train in the order of their names, samples the files in the order of
// their paths. Other files (by the ending of their names) are left out, and so are names that begin
// with a dot. Every image becomes size × size pixels (augmentation.h); mean and deviation are those
// customary for ImageNet.
// Errors: InputError names file or folder and the reason; UsageError for a subset larger than the
//         data set. A damaged image is an error when it is read; where such are left out, headers
//         and ends of all files are looked at first.
#pragma once

#include <memory>

#include "elastic_runner/bad_samples.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/image_set.h"

namespace jabas {

ImageSet open_image_folder(const EngineOptions& options, BadSamples& bad);

}  // namespace jabas

// Named arrays in one safetensors file (u64 little-endian header length, JSON header padded to 8, raw data).
// write is atomic: temporary file, fsync, rename, fsync of the directory. IoError names the path.
// read throws InputError naming file and reason (truncated, bad header, name, dtype or shape not as expected).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "elastic_runner/iidp_engine.h"

namespace jabas {

void write_safetensors(const std::string& path, const std::vector<StateTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);
// Copies into the tensors' memory; every name must be present with equal dtype and shape. Returns the metadata.
std::map<std::string, std::string> read_safetensors(const std::string& path, const std::vector<StateTensor>& tensors);

}  // namespace jabas

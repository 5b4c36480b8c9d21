// Which of the values of --model name a file. Pure.
#pragma once

#include <string>

namespace jabas {

inline bool is_torchscript_file(const std::string& model) {
  return model.ends_with(".pt") || model.ends_with(".pth") || model.ends_with(".ts");
}
inline bool is_plugin_file(const std::string& name) { return name.ends_with(".so"); }

}  // namespace jabas

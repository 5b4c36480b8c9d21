// Reads and writes whole text files.
// Errors: IoError "cannot open|read|write WHAT" with path and cause; `what` is "the profile" or so.
#pragma once

#include <string>

namespace jabas {

std::string read_text_file(const std::string& path, const std::string& what);
// Replaces the file; "-" writes to standard output.
void write_text_file(const std::string& path, const std::string& text, const std::string& what);

}  // namespace jabas

// The CURVE key pairs of one run, as Z85 text in files of mode 0600 under RUN_DIR/keys. Made once,
// kept over restarts. Ownership: value type.   Errors: IoError on a file, InputError on a file that
// is no key.
#pragma once

#include <string>

namespace jabas {

struct RunKeys {
  std::string server_public, server_secret, client_public, client_secret;  // 40 characters each
};

// Reads `directory`, or makes the directory (0700) and fills it with the keys of `make` when it
// holds none.
RunKeys load_or_make_keys(const std::string& directory, RunKeys (*make)());

// Makes it with mode 0700 if it is not there; its parents too.
void make_private_directory(const std::string& path);

// Writes a small file of mode 0600 by rename, so that readers see all of it or the one before.
void write_private_file(const std::string& path, const std::string& text);
// The file's text; "" when it does not exist.
std::string read_small_file(const std::string& path);

}  // namespace jabas

// A new CURVE key pair as Z85 text.   Errors: asserts that libzmq was built with CURVE.
#pragma once

#include <string>

namespace jabas {

void make_curve_keypair(std::string* public_key, std::string* secret_key);

}  // namespace jabas

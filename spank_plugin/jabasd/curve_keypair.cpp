#include "spank_plugin/jabasd/curve_keypair.h"

#include <zmq.h>

#include <array>

#include "allocator/error.h"

namespace jabas {

void make_curve_keypair(std::string* public_key, std::string* secret_key) {
  std::array<char, 41> public_text, secret_text;
  JABAS_ASSERT(zmq_curve_keypair(public_text.data(), secret_text.data()) == 0,
               "libzmq without CURVE");
  *public_key = public_text.data();
  *secret_key = secret_text.data();
}

}  // namespace jabas

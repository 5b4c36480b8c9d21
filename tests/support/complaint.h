// The text of the error that a call ends with.
#pragma once

#include <string>

#include "allocator/error.h"

namespace jabas {

// "accepted" if there is none.
template <typename Call>
std::string complaint_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace jabas

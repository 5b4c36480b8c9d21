// Raw bytes as base64 text (RFC 4648, with padding) and back.
#pragma once

#include <optional>
#include <string>

namespace jabas {

std::string base64_encode(const std::string& bytes);
// Nothing for text that is not canonical base64.
std::optional<std::string> base64_decode(const std::string& text);

}  // namespace jabas

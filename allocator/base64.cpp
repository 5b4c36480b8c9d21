#include "allocator/base64.h"

#include <cstdint>
#include <string_view>

namespace jabas {
namespace {
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64_encode(const std::string& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= have ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> base64_decode(const std::string& text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t digit = 0;
    if (i < text.size() - padding) {
      digit = kAlphabet.find(text[i]);
      if (digit == std::string_view::npos) return std::nullopt;
    }
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (i % 4 == 3) {
      for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(group >> shift & 255);
      group = 0;
    }
  }
  for (std::size_t k = 0; k < padding; ++k) {
    if (bytes.back() != 0) return std::nullopt;  // bits set beyond the last byte
    bytes.pop_back();
  }
  return bytes;
}

}  // namespace jabas

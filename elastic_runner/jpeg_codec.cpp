#include "elastic_runner/jpeg_codec.h"

#include <csetjmp>
#include <cstdio>
// They need FILE, and jerror.h what jpeglib.h declares.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "allocator/error.h"

namespace jabas {
namespace {

// libjpeg reports through callbacks that must not return, so decoding jumps out; nothing that has
// a destructor lives in the functions jumped over.
struct Failure {
  jpeg_error_mgr manager;  // first: libjpeg knows only this
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr decoder) {
  auto* failure = reinterpret_cast<Failure*>(decoder->err);
  failure->manager.format_message(decoder, failure->text);
  std::longjmp(failure->jump, 1);
}

// Most warnings are harmless; these mean that pixels are made up.
void message(j_common_ptr decoder, int level) {
  if (level >= 0) return;
  const int code = decoder->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) fail(decoder);
}

// Inks that are stored inverted, as Adobe does, or not.
void cmyk_to_rgb(const std::uint8_t* from, int width, bool inverted, std::uint8_t* to) {
  for (int x = 0; x < width; ++x, from += 4, to += 3)
    for (int channel = 0; channel < 3; ++channel) {
      const int ink = inverted ? from[channel] : 255 - from[channel];
      const int black = inverted ? from[3] : 255 - from[3];
      to[channel] = static_cast<std::uint8_t>(ink * black / 255);
    }
}

// False, with the reason in `failure`, if the bytes are no JPEG. Without `pixels` only the header.
bool decode(std::span<const std::uint8_t> bytes, int reduction, int* width, int* height,
            std::uint8_t* pixels, Failure& failure) {
  jpeg_decompress_struct decoder{};
  decoder.err = jpeg_std_error(&failure.manager);
  failure.manager.error_exit = fail;
  failure.manager.emit_message = message;
  if (setjmp(failure.jump) != 0) {
    jpeg_destroy_decompress(&decoder);
    return false;
  }
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&decoder, TRUE);
  const bool inks = decoder.jpeg_color_space == JCS_CMYK || decoder.jpeg_color_space == JCS_YCCK;
  decoder.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  decoder.scale_num = 1;
  decoder.scale_denom = static_cast<unsigned>(reduction);
  jpeg_calc_output_dimensions(&decoder);
  *width = static_cast<int>(decoder.output_width);
  *height = static_cast<int>(decoder.output_height);
  if (pixels != nullptr) {
    jpeg_start_decompress(&decoder);
    JSAMPARRAY row = (*decoder.mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(&decoder),
                                                  JPOOL_IMAGE, decoder.output_width * 4, 1);
    while (decoder.output_scanline < decoder.output_height) {
      std::uint8_t* to = pixels + std::size_t(decoder.output_scanline) * decoder.output_width * 3;
      if (inks) {
        jpeg_read_scanlines(&decoder, row, 1);
        cmyk_to_rgb(row[0], *width, decoder.saw_Adobe_marker, to);
      } else {
        jpeg_read_scanlines(&decoder, &to, 1);
      }
    }
    jpeg_finish_decompress(&decoder);
  }
  jpeg_destroy_decompress(&decoder);
  return true;
}

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

RgbImage jpeg_header(std::span<const std::uint8_t> bytes) {
  RgbImage image;
  Failure failure;
  if (!decode(bytes, 1, &image.width, &image.height, nullptr, failure))
    throw InputError(failure.text);
  return image;
}

RgbImage decode_jpeg(std::span<const std::uint8_t> bytes, int reduction) {
  RgbImage image;
  Failure failure;
  if (!decode(bytes, reduction, &image.width, &image.height, nullptr, failure))
    throw InputError(failure.text);
  image.pixels.resize(std::size_t(image.width) * std::size_t(image.height) * 3);
  if (!decode(bytes, reduction, &image.width, &image.height, image.pixels.data(), failure))
    throw InputError(failure.text);
  return image;
}

}  // namespace jabas

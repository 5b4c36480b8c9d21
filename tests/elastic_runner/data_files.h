// Small data sets in the formats that a run reads, written for a test.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
// They need FILE.
// clang-format off
#include <jpeglib.h>
#include <png.h>
// clang-format on

#include "elastic_runner/random_stream.h"
#include "elastic_runner/rgb_image.h"

namespace jabas::testing {

inline void write_file(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A picture that differs by seed: a slope of colours with some noise.
inline RgbImage picture(int width, int height, std::uint64_t seed) {
  RandomStream random({seed});
  RgbImage image{width, height, {}};
  const int base = static_cast<int>(random.next() % 100);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int channel = 0; channel < 3; ++channel)
        image.pixels.push_back(static_cast<std::uint8_t>(base + 40 * channel + 50 * x / width +
                                                         20 * y / height + int(random.next() % 5)));
  return image;
}

inline std::string jpeg_text(const RgbImage& image, bool grey = false) {
  jpeg_compress_struct encoder;
  jpeg_error_mgr errors;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &buffer, &size);
  encoder.image_width = static_cast<unsigned>(image.width);
  encoder.image_height = static_cast<unsigned>(image.height);
  encoder.input_components = 3;
  encoder.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder);
  if (grey) jpeg_set_colorspace(&encoder, JCS_GRAYSCALE);
  jpeg_set_quality(&encoder, 95, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    auto* row = const_cast<std::uint8_t*>(image.pixels.data()) +
                std::size_t(encoder.next_scanline) * std::size_t(image.width) * 3;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  const std::string text(reinterpret_cast<char*>(buffer), size);
  std::free(buffer);
  return text;
}

inline std::string png_text(const RgbImage& image) {
  png_image form{};
  form.version = PNG_IMAGE_VERSION;
  form.width = static_cast<unsigned>(image.width);
  form.height = static_cast<unsigned>(image.height);
  form.format = PNG_FORMAT_RGB;
  std::string text(PNG_IMAGE_PNG_SIZE_MAX(form), '\0');
  png_alloc_size_t size = text.size();
  if (!png_image_write_to_memory(&form, text.data(), &size, 0, image.pixels.data(), 0, nullptr))
    throw std::runtime_error(form.message);
  text.resize(size);
  return text;
}

// FOLDER/train and FOLDER/test with two classes; JPEG and PNG in turns.
inline void write_image_folder(const std::filesystem::path& folder, int train, int test,
                               int side = 40) {
  std::uint64_t seed = 0;
  for (const auto& [split, count] : {std::pair{"train", train}, {"test", test}})
    for (const char* name : {"ant", "bee"})
      for (int i = 0; i < count; ++i) {
        const RgbImage image = picture(side + i, side, ++seed);
        const std::string stem = "image" + std::to_string(i);
        if (i % 2 == 0)
          write_file(folder / split / name / (stem + ".jpg"), jpeg_text(image));
        else
          write_file(folder / split / name / (stem + ".PNG"), png_text(image));
      }
}

// `images` records of one cifar file; label_bytes 1: cifar10, 2: cifar100.
inline std::string cifar_text(int images, int label_bytes, std::uint64_t seed) {
  RandomStream random({seed});
  std::string text;
  for (int i = 0; i < images; ++i) {
    if (label_bytes == 2) text += static_cast<char>(random.next() % 20);
    text += static_cast<char>(random.next() % 10);
    for (int k = 0; k < 3072; ++k) text += static_cast<char>(random.next() % 256);
  }
  return text;
}

inline void write_cifar10(const std::filesystem::path& folder, int images_per_file) {
  for (int i = 1; i <= 5; ++i)
    write_file(folder / ("data_batch_" + std::to_string(i) + ".bin"),
               cifar_text(images_per_file, 1, std::uint64_t(i)));
  write_file(folder / "test_batch.bin", cifar_text(images_per_file, 1, 6));
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// As numpy.save writes it; `shape` as NumPy prints it.
inline std::string npy_text(const std::string& type, const std::string& shape,
                            const std::string& data, int version = 1) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((header.size() + (version == 1 ? 11 : 13)) % 64 != 0) header += ' ';
  header += '\n';
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  const auto size = static_cast<std::uint32_t>(header.size());
  text += bytes_of(std::vector<std::uint32_t>{size}).substr(0, version == 1 ? 2 : 4);
  return text + header + data;
}

}  // namespace jabas::testing

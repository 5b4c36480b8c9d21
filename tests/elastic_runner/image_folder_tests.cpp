#include <boost/test/unit_test.hpp>
#include <numeric>

#include "elastic_runner/datasets.h"
#include "elastic_runner/image_file.h"
#include "elastic_runner/resample.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;

struct Fixture {
  Fixture() {
    write_image_folder(dir.path(), 3, 2);
    options.dataset = "images";
    options.data_dir = dir.path();
    options.reading.image_size = 16;
  }
  ImageSet open() const {
    BadSamples bad(options.reading.skip_bad);
    return open_images(options, bad);
  }
  std::string error() const {
    return complaint_of([&] { open(); });
  }
  std::string path(const std::string& name) const { return (dir / name).string(); }
  static std::vector<std::uint8_t> pixels(const ImageSplit& split, std::int64_t image,
                                          RandomStream* random = nullptr) {
    std::vector<std::uint8_t> result(3 * 16 * 16);
    split.read(image, random, result.data());
    return result;
  }

  TempDir dir;
  EngineOptions options;
};

double mean(const std::vector<std::uint8_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(image_folder_tests, Fixture)

BOOST_AUTO_TEST_CASE(folders_are_classes_and_files_samples) {
  write_file(path("train/ant/notes.txt"), "no image");
  write_file(path("train/ant/.hidden.jpg"), "no image");
  const ImageSet set = open();
  BOOST_TEST(set.classes == 2);
  BOOST_TEST(set.rows == 16);
  BOOST_TEST(set.train->count() == 6);
  BOOST_TEST(set.test->count() == 4);
  BOOST_TEST(set.train->label(2) == 0);
  BOOST_TEST(set.train->label(3) == 1);
  BOOST_TEST(count_train_samples(options) == 6);
  options.subset = 5;
  BOOST_TEST(count_train_samples(options) == 5);
}

BOOST_AUTO_TEST_CASE(jpeg_and_png_give_the_picture) {
  const RgbImage image = picture(60, 40, 1);
  write_file(path("train/ant/image0.jpg"), jpeg_text(image));
  write_file(path("train/ant/image1.PNG"), png_text(image));
  const ImageSet set = open();
  const auto jpeg = pixels(*set.train, 0), png = pixels(*set.train, 1);
  BOOST_TEST(mean(png) == mean(image.pixels), boost::test_tools::tolerance(0.05));
  double difference = 0;
  for (std::size_t i = 0; i < png.size(); ++i)
    difference += std::abs(int(jpeg[i]) - int(png[i])) / double(png.size());
  BOOST_TEST(difference < 3);
  // A large JPEG is decoded at half its size and gives the same.
  const RgbImage large = picture(320, 240, 2);
  write_file(path("train/ant/image0.jpg"), jpeg_text(large));
  write_file(path("train/ant/image1.PNG"), png_text(large));
  BOOST_TEST(mean(pixels(*set.train, 0)) == mean(pixels(*set.train, 1)),
             boost::test_tools::tolerance(0.02));
  const ImageFile file(path("train/ant/image0.jpg"));
  BOOST_TEST(file.decode(4).width == 80);
  BOOST_TEST(file.decode(8).height == 30);
  // Grey ones have three equal channels.
  write_file(path("train/ant/image0.jpg"), jpeg_text(image, true));
  const auto grey = pixels(*set.train, 0);
  BOOST_TEST(std::equal(grey.begin(), grey.begin() + 256, grey.begin() + 256));
}

BOOST_AUTO_TEST_CASE(augmentation_is_a_function_of_the_stream) {
  options.reading.augment = true;
  const ImageSet set = open();
  RandomStream first({1}), again({1}), other({2});
  const auto one = pixels(*set.train, 0, &first);
  BOOST_TEST((one == pixels(*set.train, 0, &again)));
  BOOST_TEST((one != pixels(*set.train, 0, &other)));
  BOOST_TEST((pixels(*set.test, 0, &first) == pixels(*set.test, 0)));
}

BOOST_AUTO_TEST_CASE(folders_that_do_not_fit_are_named) {
  namespace fs = std::filesystem;
  fs::create_directory(dir / "train/cat");
  BOOST_TEST(error() == path("train/cat") + ": has no images (*.jpg, *.jpeg, *.png)");
  fs::remove(dir / "train/cat");
  write_file(path("test/dog/a.png"), png_text(picture(4, 4, 1)));
  BOOST_TEST(error() == path("test/dog") + ": a class that train does not have");
  fs::remove_all(dir / "test");
  BOOST_TEST(error() == path("test") + ": cannot be read: No such file or directory");
  fs::create_directory(dir / "test");
  BOOST_TEST(error() == path("test") + ": has no usable images");
  fs::remove_all(dir / "train/ant");
  BOOST_TEST(error() ==
             path("train") + ": has 1 folders; at least 2 are needed, one for each class");
  fs::remove_all(dir / "train");
  BOOST_TEST(error() == path("train") + ": cannot be read: No such file or directory");
}

BOOST_AUTO_TEST_CASE(damaged_images_are_named_when_they_are_read) {
  const ImageSet set = open();
  const std::string jpeg = path("train/ant/image0.jpg"), png = path("train/ant/image1.PNG");
  const std::string good_jpeg = read_file(jpeg), good_png = read_file(png);
  const auto error_of = [&](int image) { return complaint_of([&] { pixels(*set.train, image); }); };
  write_file(jpeg, "");
  BOOST_TEST(error_of(0) == jpeg + ": is empty");
  write_file(jpeg, "GIF89a");
  BOOST_TEST(error_of(0) == jpeg + ": is neither JPEG nor PNG");
  write_file(jpeg, good_jpeg.substr(0, 20));
  BOOST_TEST(error_of(0) == jpeg + ": Premature end of JPEG file");
  write_file(jpeg, good_jpeg.substr(0, good_jpeg.size() / 2));
  BOOST_TEST(error_of(0) == jpeg + ": Premature end of JPEG file");
  write_file(png, good_png.substr(0, 20));
  BOOST_TEST(error_of(1).starts_with(png + ": "), error_of(1));
  write_file(png, good_png.substr(0, good_png.size() / 2));
  BOOST_TEST(error_of(1).starts_with(png + ": "), error_of(1));
  std::filesystem::remove(jpeg);
  BOOST_TEST(error_of(0) == jpeg + ": cannot be read: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_header_that_asks_for_too_much_memory_is_refused) {
  std::string large = read_file(path("train/ant/image1.PNG"));
  const std::string side = {0, 0, '\x7f', '\xff'};  // 32767 x 32767, with the sum that fits
  large.replace(16, 8, side + side);
  std::uint32_t sum = ~0U;
  for (int i = 12; i < 29; ++i) {
    sum ^= static_cast<std::uint8_t>(large[std::size_t(i)]);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (0xedb88320U & (0U - (sum & 1)));
  }
  sum = ~sum;
  for (int i = 0; i < 4; ++i) large[std::size_t(29 + i)] = static_cast<char>(sum >> (24 - 8 * i));
  write_file(path("large.png"), large);
  BOOST_TEST(complaint_of([&] { ImageFile(path("large.png")); }) ==
             path("large.png") + ": has 32767x32767 pixels; accepted are at most 134217728");
}

BOOST_AUTO_TEST_CASE(bad_files_are_left_out_and_counted) {
  const std::string jpeg = path("train/bee/image0.jpg"), png = path("test/ant/image1.PNG"),
                    whole = read_file(jpeg);
  write_file(jpeg, whole.substr(0, whole.size() - 20));
  write_file(png, "x");
  options.reading.skip_bad = true;
  std::int64_t count = 0;
  std::string reason;
  options.on_skipped = [&](std::int64_t samples, const std::string& first) {
    count = samples;
    reason = first;
  };
  BOOST_TEST(count_train_samples(options) == 5);
  BOOST_TEST(count == 2);
  BOOST_TEST(reason == jpeg + ": truncated: its end is missing");
  BOOST_TEST(open().train->label(3) == 1);
  BOOST_TEST(open().test->count() == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "elastic_runner/augmentation.h"
#include "elastic_runner/resample.h"

namespace jabas {
namespace {

RgbImage filled(int width, int height, std::uint8_t value) {
  return {width, height,
          std::vector<std::uint8_t>(std::size_t(width) * std::size_t(height) * 3, value)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(augmentation_tests)

// The pixel with value 200 in the middle tells where the image went.
BOOST_AUTO_TEST_CASE(images_move_by_up_to_four_pixels_and_are_mirrored) {
  constexpr std::int64_t kSide = 12;
  std::vector<std::uint8_t> image(kSide * kSide, 1), result(image.size());
  image[6 * kSide + 5] = 200;
  image[6 * kSide + 6] = 100;
  std::set<std::int64_t> rows, columns;
  int mirrored = 0;
  RandomStream random({7});
  for (int i = 0; i < 400; ++i) {
    shift_and_flip(image.data(), 1, kSide, kSide, random, result.data());
    const auto place = std::find(result.begin(), result.end(), 200) - result.begin();
    BOOST_TEST_REQUIRE(place < kSide * kSide);
    rows.insert(place / kSide);
    const bool mirror = place % kSide > 0 && result[std::size_t(place) - 1] == 100;
    mirrored += mirror ? 1 : 0;
    columns.insert(mirror ? kSide - 1 - place % kSide : place % kSide);
  }
  BOOST_TEST(rows == (std::set<std::int64_t>{2, 3, 4, 5, 6, 7, 8, 9, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(columns == (std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}),
             boost::test_tools::per_element());
  BOOST_TEST(mirrored > 150);
  BOOST_TEST(mirrored < 250);
}

BOOST_AUTO_TEST_CASE(what_moves_in_is_black_and_the_rest_stays) {
  const std::vector<std::uint8_t> image(3 * 8 * 8, 9);
  std::vector<std::uint8_t> result(image.size());
  RandomStream random({1}), same({1});
  shift_and_flip(image.data(), 3, 8, 8, random, result.data());
  const auto down = static_cast<std::int64_t>(same.next() % 9) - 4,
             right = static_cast<std::int64_t>(same.next() % 9) - 4;
  BOOST_TEST(std::count(result.begin(), result.end(), 9) ==
             3 * (8 - std::abs(down)) * (8 - std::abs(right)));
}

BOOST_AUTO_TEST_CASE(views_lie_inside_the_image_and_vary) {
  RandomStream random({3});
  std::set<double> widths;
  int mirrored = 0;
  for (int i = 0; i < 300; ++i) {
    const auto [width, height] = i % 3 == 0 ? std::pair{100, 70} : std::pair{20, 900};
    const ImageView view = random_view(width, height, random);
    BOOST_TEST(view.left >= 0);
    BOOST_TEST(view.top >= 0);
    BOOST_TEST(view.left + view.width <= width + 1e-9);
    BOOST_TEST(view.top + view.height <= height + 1e-9);
    BOOST_TEST(view.width / view.height < 4.0 / 3 + 1e-9);
    BOOST_TEST(view.width / view.height > 3.0 / 4 - 1e-9);
    widths.insert(view.width);
    mirrored += view.mirrored ? 1 : 0;
  }
  BOOST_TEST(widths.size() > 100U);
  BOOST_TEST(mirrored > 100);
  BOOST_TEST(mirrored < 200);
  const ImageView centre = centre_view(100, 64);
  BOOST_TEST(centre.width == 56);
  BOOST_TEST(centre.left == 22);
  BOOST_TEST(centre.top == 4);
}

BOOST_AUTO_TEST_CASE(scaling_keeps_flat_colours_and_means) {
  std::vector<std::uint8_t> planes(3 * 7 * 7);
  for (const auto& [width, height] : {std::pair{1, 1}, {3, 200}, {7, 7}, {640, 480}}) {
    resample(filled(width, height, 173), {0, 0, double(width), double(height), false}, 7,
             planes.data());
    BOOST_TEST(std::count(planes.begin(), planes.end(), 173) == std::ssize(planes));
  }
  // A slope keeps its mean, is the same when it is not scaled, and can be mirrored.
  RgbImage slope = filled(14, 14, 0);
  for (std::size_t i = 0; i < slope.pixels.size(); ++i)
    slope.pixels[i] = static_cast<std::uint8_t>(i / 3 % 14 * 10);
  resample(slope, {0, 0, 14, 14, false}, 7, planes.data());
  BOOST_TEST(planes[0] == 7);  // 0, 10 and 20 with weights 3, 3 and 1
  BOOST_TEST(planes[3] == 65);
  std::vector<std::uint8_t> whole(3 * 14 * 14);
  resample(slope, {0, 0, 14, 14, true}, 14, whole.data());
  BOOST_TEST(whole[0] == 130);
  BOOST_TEST(whole[13] == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas

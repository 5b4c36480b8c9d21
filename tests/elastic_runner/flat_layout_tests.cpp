#include <boost/test/unit_test.hpp>
#include <random>

#include "elastic_runner/flat_layout.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(flat_layout_tests)

BOOST_AUTO_TEST_CASE(lies_in_reverse_order_on_aligned_offsets) {
  const FlatLayout layout = make_flat_layout({100, 16, 3}, 4, 1 << 20);
  BOOST_TEST(layout.slots[2].offset == 0);
  BOOST_TEST(layout.slots[1].offset == 16);
  BOOST_TEST(layout.slots[0].offset == 32);
  BOOST_TEST(layout.size == 32 + 112);
  BOOST_TEST(layout.buckets.size() == 1u);
  BOOST_TEST(layout.buckets[0].parameters == 3);
}

BOOST_AUTO_TEST_CASE(a_large_parameter_closes_its_bucket) {
  // The cnn: its first linear layer is nearly all of it and its gradient is there long before the
  // convolutions'.
  const FlatLayout layout =
      make_flat_layout({144, 16, 16, 4608, 32, 32, 200704, 128, 1280, 10}, 4, 1 << 20);
  BOOST_TEST_REQUIRE(layout.buckets.size() == 2u);
  BOOST_TEST(layout.slots[6].bucket == 0);
  BOOST_TEST(layout.slots[5].bucket == 1);
  BOOST_TEST(layout.buckets[0].parameters == 4);
  BOOST_TEST(layout.buckets[1].parameters == 6);
}

BOOST_AUTO_TEST_CASE(random_layouts_cover_everything_once) {
  const auto seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<std::int64_t> counts(1 + random() % 20);
    for (auto& count : counts) count = 1 + random() % 5000;
    const std::int64_t bucket_bytes = 64 << random() % 12;
    const FlatLayout layout = make_flat_layout(counts, 8, bucket_bytes);
    std::int64_t at = 0, parameters = 0;
    for (const auto& bucket : layout.buckets) {
      BOOST_TEST(bucket.begin == at);
      BOOST_TEST(bucket.parameters > 0);
      at = bucket.end;
      parameters += bucket.parameters;
    }
    BOOST_TEST(at == layout.size);
    BOOST_TEST(parameters == static_cast<std::int64_t>(counts.size()));
    std::int64_t end = 0;
    for (std::size_t i = counts.size(); i-- > 0;) {
      const auto& slot = layout.slots[i];
      const auto& bucket = layout.buckets[static_cast<std::size_t>(slot.bucket)];
      BOOST_TEST(slot.count == counts[i]);
      BOOST_TEST(slot.offset % 16 == 0);
      BOOST_TEST(slot.offset >= end);
      BOOST_TEST(slot.offset >= bucket.begin);
      BOOST_TEST(slot.offset + slot.count <= bucket.end);
      end = slot.offset + slot.count;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas

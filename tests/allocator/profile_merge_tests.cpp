// Profiles of one model that were measured apart.
#include <boost/test/unit_test.hpp>

#include "allocator/profile_merge.h"
#include "tests/allocator/profile_fixtures.h"
#include "tests/support/complaint.h"

namespace jabas {
namespace {

ComputePoint point(std::int64_t batch, int streams, double seconds) {
  return {batch, streams, 0.001, seconds, 2 * seconds, 0.002, 0, 0};
}

Profile one_type(const std::string& file, const std::string& type,
                 std::vector<ComputePoint> points) {
  Profile profile;
  profile.source = file;
  profile.model = "net";
  profile.types[type].points = std::move(points);
  return profile;
}

std::string complaint(std::vector<Profile> profiles) {
  return complaint_of([&] { merge_profiles(std::move(profiles)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_merge_tests)

BOOST_AUTO_TEST_CASE(identical_profiles_are_one) {
  Profile profile = fixtures::resnet50();
  BOOST_TEST(to_json_text(merge_profiles({profile, profile, profile})) == to_json_text(profile));
  BOOST_TEST(to_json_text(merge_profiles({profile})) == to_json_text(profile));
}

BOOST_AUTO_TEST_CASE(points_of_a_type_are_united_in_order) {
  Profile a = one_type("A", "t", {point(32, 1, 1), point(32, 2, 2)});
  Profile b = one_type("B", "t", {point(16, 1, 0.5), point(32, 1, 1), point(32, 3, 3)});
  a.types["t"].max_streams = {{32, 4}};
  b.types["t"].max_streams = {{16, 8}};
  b.types["t"].tflops = 7;
  b.types["t"].sync_inter = {{32, 0.1, 0.2, 0.3}};
  a.types["t"].sync_inter = {{48, 0.1, 0.2, 0.3}};
  const Profile merged = merge_profiles({a, b, one_type("C", "other", {point(8, 1, 1)})});
  BOOST_TEST(merged.types.size() == 2u);
  BOOST_TEST(merged.source == "A + B + C");
  const TypeProfile& type = merged.types.at("t");
  BOOST_TEST_REQUIRE(type.points.size() == 4u);
  BOOST_TEST(type.points[0].local_batch == 16);
  BOOST_TEST(type.points[1].streams == 1);
  BOOST_TEST(type.points[2].streams == 2);
  BOOST_TEST(type.points[3].streams == 3);
  BOOST_TEST((type.max_streams == std::map<std::int64_t, int>{{16, 8}, {32, 4}}));
  BOOST_TEST(type.tflops == 7);
  BOOST_TEST_REQUIRE(type.sync_inter.size() == 2u);
  BOOST_TEST(type.sync_inter[0].local_batch == 32);
  const std::string text = to_json_text(merged);
  BOOST_TEST(to_json_text(profile_from_json(text, "again")) == text);
}

BOOST_AUTO_TEST_CASE(a_conflict_names_type_key_files_and_values) {
  const Profile a = one_type("A.json", "t", {point(32, 1, 1)});
  const std::string end = ": they must agree to be united";
  BOOST_TEST(complaint({a, one_type("B.json", "t", {point(32, 1, 1.5)})}) ==
             "types.t.points (local batch 32, streams 1).forward_s: 1 in A.json, 1.5 in B.json" +
                 end);
  // The two files that disagree, wherever they stand.
  BOOST_TEST(complaint({a, one_type("B.json", "t", {point(64, 1, 2)}),
                        one_type("C.json", "t", {point(64, 1, 3)})}) ==
             "types.t.points (local batch 64, streams 1).forward_s: 2 in B.json, 3 in C.json" +
                 end);
  Profile b = a;
  b.source = "B.json";
  b.model = "other";
  BOOST_TEST(complaint({a, b}) == "model: 'net' in A.json, 'other' in B.json" + end);
  b.model = "";
  BOOST_TEST(complaint({a, b}) == "accepted");
  b.types["t"].gpus_per_node = 8;
  BOOST_TEST(complaint({a, b}) == "types.t.gpus_per_node: 1 in A.json, 8 in B.json" + end);
  b.types["t"].gpus_per_node = 1;
  b.types["t"].scaled = true;
  BOOST_TEST(complaint({a, b}) == "types.t.scaled: false in A.json, true in B.json" + end);
  Profile limited = a, more = one_type("B.json", "t", {point(32, 1, 1), point(32, 3, 2)});
  limited.types["t"].max_streams = {{32, 2}};
  BOOST_TEST(complaint({limited, more}) ==
             "types.t.max_streams.32: 2 in A.json, but 3 streams measured in B.json" + end);
  more.types["t"].max_streams = {{32, 3}};
  BOOST_TEST(complaint({limited, more}) ==
             "types.t.max_streams.32: 2 in A.json, 3 in B.json" + end);
  Profile c = a, d = one_type("D.json", "u", {point(32, 1, 1)});
  c.bucket_bytes = {1, 2};
  d.bucket_bytes = {1, 3};
  BOOST_TEST(complaint({c, d}) == "network.bucket_bytes: [1, 2] in A.json, [1, 3] in D.json" + end);
}

BOOST_AUTO_TEST_CASE(a_network_that_one_file_knows_is_that_of_all) {
  Profile a = one_type("A", "t", {point(32, 1, 1)}), b = one_type("B", "u", {point(32, 1, 1)});
  b.intra = {1e9, {{1, 2}, {2, 3}}};
  b.bucket_bytes = {5};
  const Profile merged = merge_profiles({a, b});
  BOOST_TEST(merged.intra.bandwidth_bytes_per_s == 1e9);
  BOOST_TEST(merged.bucket_bytes.size() == 1u);
  BOOST_TEST(merged.types.at("u").intra.bandwidth_bytes_per_s == 0);
}

BOOST_AUTO_TEST_CASE(different_networks_stay_with_their_types) {
  Profile a = one_type("A", "t", {point(32, 1, 1)}), b = one_type("B", "u", {point(32, 1, 1)});
  a.bucket_bytes = b.bucket_bytes = {1e6, 2e6};
  a.intra = {1e9, {{0.1, 0.2}, {0.2, 0.3}}};
  a.inter = {1e8, {}};
  b.intra = {2e9, {{0.1, 0.3}, {0.2, 0.5}}};
  b.types["u"].inter.bandwidth_bytes_per_s = 3e8;
  const Profile merged = merge_profiles({a, b});
  BOOST_TEST(merged.intra.bandwidth_bytes_per_s == 0);
  BOOST_TEST(merged.types.at("u").inter.bandwidth_bytes_per_s == 3e8);
  // Predictions are those of the separate files.
  const ThroughputModel together(profile_from_json(to_json_text(merged), "merged"));
  for (const auto& [profile, type] : {std::pair(&a, "t"), std::pair(&b, "u")})
    for (const int nodes : {1, 2}) {
      const AllReduceTimes alone = ThroughputModel(*profile).find(type)->all_reduce(4, nodes, 32);
      const AllReduceTimes now = together.find(type)->all_reduce(4, nodes, 32);
      BOOST_TEST(now.hidden_s == alone.hidden_s);
      BOOST_TEST(now.last_s == alone.last_s);
    }
  // One type cannot have both.
  Profile c = one_type("C", "t", {point(64, 1, 2)});
  c.intra = {2e9, {}};
  BOOST_TEST(complaint({a, c}) ==
             "types.t.network.intra.bandwidth_bytes_per_s: 1e+09 in A, 2e+09 in C: they must agree "
             "to be united");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas

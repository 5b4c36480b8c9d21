// The reference's profile folders: what is read, and what is wrong with them.
#include <boost/test/unit_test.hpp>

#include "allocator/profile_import.h"
#include "tests/allocator/reference_folder.h"
#include "tests/support/complaint.h"

namespace jabas {
namespace {

using fixtures::ReferenceFolder;

std::string complaint(const ReferenceFolder& folder,
                      const std::map<std::string, std::string>& names = {}) {
  std::string text = complaint_of([&] { import_profile(folder.path(), names); });
  for (std::size_t at; (at = text.find(folder.path())) != std::string::npos;)
    text.replace(at, folder.path().size(), "DIR");
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_import_tests)

BOOST_AUTO_TEST_CASE(every_number_arrives_in_its_unit) {
  const ReferenceFolder folder;
  const Profile profile = import_profile(folder.path(), {{"node0", "v100"}});
  BOOST_TEST(profile.model == "net");
  BOOST_TEST_REQUIRE(profile.types.size() == 2u);
  const TypeProfile &v100 = profile.types.at("v100"), &node1 = profile.types.at("node1");
  BOOST_TEST(v100.gpu == "Tesla V100");
  BOOST_TEST(v100.tflops == 14.13);
  BOOST_TEST(v100.gpus_per_node == 4);
  BOOST_TEST(node1.gpus_per_node == 2);
  BOOST_TEST((v100.max_streams == std::map<std::int64_t, int>{{32, 2}, {64, 1}}));
  BOOST_TEST_REQUIRE(v100.points.size() == 3u);
  const ComputePoint& second = v100.points[1];
  BOOST_TEST(second.local_batch == 32);
  BOOST_TEST(second.streams == 2);
  BOOST_TEST(second.data_s == 0.001);
  BOOST_TEST(second.forward_s == 0.016);
  BOOST_TEST(second.backward_s == 0.03);
  BOOST_TEST(second.update_s == 0.002);
  BOOST_TEST(second.copy_s == 0.0005);
  BOOST_TEST(second.bn_sync_s == 0);
  BOOST_TEST(v100.points[2].local_batch == 64);
  BOOST_TEST((profile.bucket_bytes == std::vector<double>{524288, 2097152}));
  BOOST_TEST(profile.intra.bandwidth_bytes_per_s == 2000);
  BOOST_TEST(profile.inter.bandwidth_bytes_per_s == 1000);
  BOOST_TEST((profile.intra.points ==
              std::vector<std::pair<double, double>>{{0.001, 0.002}, {0.003, 0.0045}}));
  BOOST_TEST(profile.inter.points[1].second == 0.009);
  BOOST_TEST(v100.intra.bandwidth_bytes_per_s == 0);
  const std::string text = to_json_text(profile);
  BOOST_TEST(to_json_text(profile_from_json(text, "again")) == text);
}

BOOST_AUTO_TEST_CASE(without_a_configuration_the_usual_names_count) {
  const ReferenceFolder folder;
  const std::string before = to_json_text(import_profile(folder.path(), {}));
  folder.remove("config.json");
  BOOST_TEST(to_json_text(import_profile(folder.path(), {})) == before);
}

BOOST_AUTO_TEST_CASE(the_configuration_may_point_beside_the_folder) {
  const ReferenceFolder folder;
  folder.write("../common/comm_profile_data/intra.txt", "1,1\n2,2\n");
  folder.write("../common/comm_profile_data/inter.txt", "1,1\n2,2\n");
  folder.remove("comm_profile_data");
  folder.write("config.json", R"({"comm_profile_dir": "common/comm_profile_data"})");
  BOOST_TEST(import_profile(folder.path(), {}).inter.points[1].second == 0.002);
  folder.write("config.json", R"({"comm_profile_dir": "elsewhere/comm"})");
  BOOST_TEST(complaint(folder) ==
             "DIR/config.json: comm_profile_dir: 'elsewhere/comm' is neither in nor beside DIR");
}

BOOST_AUTO_TEST_CASE(servers_that_disagree_are_listed_from_both_sides) {
  const ReferenceFolder folder;
  folder.rename("cluster_comp_profile_data/32/node1", "cluster_comp_profile_data/32/node2");
  BOOST_TEST(complaint(folder) ==
             "DIR/cluster_comp_profile_data: its servers (node0, node2) are not those of "
             "DIR/cluster_info.json (node0, node1): name them alike");
  folder.remove("cluster_comp_profile_data/32/node2");
  BOOST_TEST(complaint(folder) ==
             "DIR/config.json: available_servers (node0, node1) are not all among the servers of "
             "DIR/cluster_comp_profile_data (node0)");
  folder.remove("config.json");
  BOOST_TEST(complaint(folder).find("its servers (node0) are not those of "
                                    "DIR/cluster_info.json (node0, node1)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(files_must_be_about_the_place_they_are_in) {
  const ReferenceFolder folder;
  const std::string name = ReferenceFolder::compute_name(32, "node1", 1);
  folder.write_compute(32, "node1", "Tesla V100", 1, 1, 1);
  BOOST_TEST(complaint(folder) == "DIR/" + name +
                                      ": gpu_type: 'Tesla V100' is not the 'Tesla P100' of node1 "
                                      "in DIR/cluster_info.json");
  folder.rename(ReferenceFolder::compute_name(64, "node0", 1), name);
  BOOST_TEST(complaint(folder) == "DIR/" + name + ": lbs: 64 is not the 32 of its folder");
}

BOOST_AUTO_TEST_CASE(what_is_incomplete_is_named) {
  const std::string first = ReferenceFolder::compute_name(32, "node0", 1);
  {
    const ReferenceFolder folder;
    folder.remove(first);
    BOOST_TEST(complaint(folder) ==
               "DIR/cluster_comp_profile_data/32/node0: has no file with num_models 1, which every "
               "other one is compared with");
  }
  {
    const ReferenceFolder folder;
    folder.remove(ReferenceFolder::memory_name(64, "node0"));
    BOOST_TEST(complaint(folder) == "cannot open the memory measurement: DIR/" +
                                        ReferenceFolder::memory_name(64, "node0") +
                                        ": No such file or directory");
  }
  {
    const ReferenceFolder folder;
    folder.remove("cluster_comp_profile_data/64/node0");
    BOOST_TEST(complaint(folder) ==
               "DIR/cluster_comp_profile_data/64/node0: is missing, but "
               "DIR/cluster_mem_profile_data/64/node0 is there");
  }
  {
    const ReferenceFolder folder;
    folder.remove("comm_profile_data/inter_comm_profile_data.txt");
    BOOST_TEST(complaint(folder) ==
               "DIR/comm_profile_data/inter_comm_profile_data.txt: is missing");
  }
  {
    const ReferenceFolder folder;
    folder.write("bucket_profile_data/net_bucket_size_profile.json",
                 R"({"model": "other", "bucket_size_distribution": [1]})");
    BOOST_TEST(complaint(folder) ==
               "DIR/bucket_profile_data: has no buckets of model 'net', only of other");
  }
  {
    const ReferenceFolder folder;
    folder.write_memory(32, "node0", "Tesla V100", 1);
    BOOST_TEST(complaint(folder) == "DIR/" + ReferenceFolder::memory_name(32, "node0") +
                                        ": max_num_models: 1 is below the 2 measured in DIR/" +
                                        ReferenceFolder::compute_name(32, "node0", 2));
  }
  {
    const ReferenceFolder folder;
    folder.write("cluster_comp_profile_data/x7/node0/a.json", "{}");
    BOOST_TEST(complaint(folder) ==
               "DIR/cluster_comp_profile_data/x7: is not a local batch, 1..1048576");
  }
}

BOOST_AUTO_TEST_CASE(two_servers_are_one_type_only_if_they_agree) {
  const ReferenceFolder folder;
  const std::map<std::string, std::string> same = {{"node0", "gpu"}, {"node1", "gpu"}};
  BOOST_TEST(complaint(folder, same) ==
             "types.gpu.gpu: 'Tesla V100' in server node0, 'Tesla P100' in server node1: they must "
             "agree to be united");
  folder.write("cluster_info.json",
               R"({"node0": {"type": "Tesla V100", "tfplos": 14.13, "number": 4,
                     "intra_network_bandwidth": 2000, "inter_network_bandwidth": 1000},
                   "node1": {"type": "Tesla V100", "tfplos": 14.13, "number": 4,
                     "intra_network_bandwidth": 2000, "inter_network_bandwidth": 1000}})");
  folder.write_memory(32, "node1", "Tesla V100", 2);
  folder.write_compute(32, "node1", "Tesla V100", 1, 11, 20);
  BOOST_TEST(complaint(folder, same) ==
             "types.gpu.points (local batch 32, streams 1).forward_s: 0.01 in server node0, 0.011 "
             "in server node1: they must agree to be united");
  folder.write_compute(32, "node1", "Tesla V100", 1, 10, 20);
  const Profile profile = import_profile(folder.path(), same);
  BOOST_TEST(profile.types.size() == 1u);
  BOOST_TEST(profile.types.at("gpu").points.size() == 3u);
  BOOST_TEST(complaint(folder, {{"node7", "gpu"}}) ==
             "--name node7=gpu: there is no server 'node7', only node0, node1");
}

BOOST_AUTO_TEST_CASE(servers_with_other_networks_keep_their_bandwidth) {
  const ReferenceFolder folder;
  folder.write("cluster_info.json",
               R"({"node0": {"type": "Tesla V100", "tfplos": 14.13, "number": 4,
                     "intra_network_bandwidth": 2000, "inter_network_bandwidth": 1000},
                   "node1": {"type": "Tesla P100", "tfplos": 9.5, "number": 2,
                     "intra_network_bandwidth": 2000, "inter_network_bandwidth": 700}})");
  const Profile profile = import_profile(folder.path(), {});
  BOOST_TEST(profile.inter.bandwidth_bytes_per_s == 1000);
  BOOST_TEST(profile.types.at("node0").inter.bandwidth_bytes_per_s == 0);
  BOOST_TEST(profile.types.at("node1").inter.bandwidth_bytes_per_s == 700);
  BOOST_TEST(profile.types.at("node1").intra.bandwidth_bytes_per_s == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas

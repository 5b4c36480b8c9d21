// A folder as the reference's profilers write it, made for one test: two servers, a V100 and a
// P100.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace jabas::fixtures {

class ReferenceFolder {
 public:
  ReferenceFolder() {
    write("cluster_info.json",
          R"({"node0": {"type": "Tesla V100", "tfplos": 14.13, "number": 4,
                        "intra_network_bandwidth": 2000, "inter_network_bandwidth": 1000},
              "node1": {"type": "Tesla P100", "tfplos": 9.5, "number": 2,
                        "intra_network_bandwidth": 2000, "inter_network_bandwidth": 1000}})");
    write("config.json", R"({"memory_profile_dir": "quickstart/cluster_mem_profile_data",
              "comp_profile_dir": "quickstart/cluster_comp_profile_data",
              "comm_profile_dir": "quickstart/comm_profile_data",
              "bucket_profile_dir": "quickstart/bucket_profile_data",
              "gpu_cluster_info": "quickstart/cluster_info.json",
              "batch_size_lower_bound": 256, "available_servers": ["node0", "node1"]})");
    write_compute(32, "node0", "Tesla V100", 1, 10, 20);
    write_compute(32, "node0", "Tesla V100", 2, 16, 30);
    write_compute(64, "node0", "Tesla V100", 1, 18, 38);
    write_compute(32, "node1", "Tesla P100", 1, 15, 31);
    write_memory(32, "node0", "Tesla V100", 2);
    write_memory(64, "node0", "Tesla V100", 1);
    write_memory(32, "node1", "Tesla P100", 1);
    write("comm_profile_data/intra_comm_profile_data.txt", "1,2\n3,4.5\n");
    write("comm_profile_data/inter_comm_profile_data.txt", "2,7\r\n4,9\r\n");
    write("bucket_profile_data/net_bucket_size_profile.json",
          R"({"model": "net", "bucket_size_distribution": [0.5, 2]})");
  }

  std::string path(const std::string& name = "") const {
    return dir_.path() + "/quickstart" + (name.empty() ? "" : "/" + name);
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(path(name)); }
  void rename(const std::string& from, const std::string& to) const {
    std::filesystem::rename(path(from), path(to));
  }

  static std::string compute_name(int batch, const std::string& server, int streams) {
    return "cluster_comp_profile_data/" + std::to_string(batch) + "/" + server + "/net_" +
           std::to_string(batch) + "_" + std::to_string(streams) + "_comp_profile.json";
  }
  void write_compute(int batch, const std::string& server, const std::string& gpu, int streams,
                     double forward_ms, double backward_ms) const {
    write(compute_name(batch, server, streams),
          R"({"model": "net", "gpu_type": ")" + gpu + R"(", "lbs": )" + std::to_string(batch) +
              R"(, "num_models": )" + std::to_string(streams) +
              R"(, "total_time": 99, "data_time": 1, "fwd_time": )" + std::to_string(forward_ms) +
              R"(, "bwd_time": )" + std::to_string(backward_ms) +
              R"(, "update_time": 2, "copy_time": 0.5})");
  }
  static std::string memory_name(int batch, const std::string& server) {
    return "cluster_mem_profile_data/" + std::to_string(batch) + "/" + server +
           "/max_memory_profile_info.json";
  }
  void write_memory(int batch, const std::string& server, const std::string& gpu,
                    int streams) const {
    write(memory_name(batch, server),
          R"({"gpu_type": ")" + gpu + R"(", "total_memory": 16945512448, "lbs": )" +
              std::to_string(batch) + R"(, "max_num_models": )" + std::to_string(streams) + "}");
  }

 private:
  TempDir dir_;
};

}  // namespace jabas::fixtures

// Lines as Slurm 22.05 printed them on a private cluster.
#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "spank_plugin/jabasd/gpu_supply.h"
#include "spank_plugin/jabasd/slurm_cli_client.h"
#include "spank_plugin/jabasd/slurm_text.h"

using namespace jabas;

BOOST_AUTO_TEST_SUITE(slurm_text_tests)

BOOST_AUTO_TEST_CASE(reads_squeue) {
  const auto rows = parse_squeue(
      "1|RUNNING|v100-1|2026-12-01T11:57:24|2026-12-01T11:57:24|NONE|N/"
      "A|jabas-1.0|None|jabas:3:v100|\n"
      "2|PENDING||2026-12-01T11:57:25|N/A|N/A|2026-12-01T12:00:00|jabas-1.0|Resources|a|b|\n"
      "3|CANCELLED by 1000|n|N/A|N/A|N/A|N/A|j|None|(null)|\n");
  BOOST_TEST(rows.size() == 3u);
  BOOST_TEST(rows[0].job_id == 1);
  BOOST_TEST(rows[0].node == "v100-1");
  BOOST_TEST(rows[0].submit_s == 1796126244.0);
  BOOST_TEST(rows[0].end_s == 0.0);
  BOOST_TEST(rows[0].reason == "");
  BOOST_TEST(rows[0].comment == "jabas:3:v100");
  BOOST_TEST(rows[1].start_s == 0.0);
  BOOST_TEST(rows[1].preempt_s == 1796126400.0);
  BOOST_TEST(rows[1].reason == "Resources");
  BOOST_TEST(rows[1].comment == "a|b");  // a separator inside the comment does no harm
  BOOST_TEST(rows[2].state == "CANCELLED");
  BOOST_TEST(rows[2].comment == "");
  BOOST_TEST(parse_squeue("").empty());
}

BOOST_AUTO_TEST_CASE(a_broken_squeue_line_is_named) {
  BOOST_CHECK_EXCEPTION(parse_squeue("slurm_load_jobs error\n"), InputError,
                        [](const InputError& error) {
                          return std::string(error.what()) ==
                                 "squeue: line \"slurm_load_jobs error\": expected ten fields "
                                 "separated by |, the first a job id";
                        });
}

BOOST_AUTO_TEST_CASE(reads_gres_in_all_its_forms) {
  BOOST_TEST((parse_gres("gpu:v100:2(S:0-1)") == GpuCounts{{"v100", 2}}));
  BOOST_TEST(
      (parse_gres("gpu:a:1(IDX:0,2),gpu:b:3,shard:v100:8") == GpuCounts{{"a", 1}, {"b", 3}}));
  BOOST_TEST((parse_gres("gres:gpu:v100:2") == GpuCounts{{"v100", 2}}));
  BOOST_TEST((parse_gres("gres/gpu:v100") == GpuCounts{{"v100", 1}}));
  BOOST_TEST((parse_gres("gpu:4") == GpuCounts{{"gpu", 4}}));
  BOOST_TEST(normalized(parse_gres("gpu:p100:0(IDX:N/A)")).empty());
  BOOST_TEST(parse_gres("(null)").empty());
  BOOST_TEST(parse_gres("").empty());
}

BOOST_AUTO_TEST_CASE(reads_sinfo_and_counts_a_node_once) {
  const auto nodes = parse_sinfo(
      "v100-1 gpu:v100:2 gpu:v100:1(IDX:0) mixed 1/7/0/8 \n"
      "v100-1 gpu:v100:2 gpu:v100:1(IDX:0) mixed 1/7/0/8 \n"
      "v100-2 gpu:v100:2 gpu:v100:0(IDX:N/A) idle+drain 0/8/0/8 \n"
      "v100-3 gpu:v100:4 gpu:v100:0(IDX:N/A) down* 0/8/0/8 \n"
      "c1 (null) gpu:0 idle 0/4/0/4 \n");
  BOOST_TEST(nodes.size() == 4u);
  BOOST_TEST(free_gpus(nodes, "v100", 1) == 1);
  BOOST_TEST(free_gpus(nodes, "v100", 2) == 0);
  BOOST_TEST((gpu_types(nodes) == std::vector<std::string>{"v100"}));
}

// Free CPUs limit what can start, and one CPU per node is left for a lead.
BOOST_AUTO_TEST_CASE(supply_counts_whole_members_and_cpus) {
  const auto nodes = parse_sinfo(
      "a gpu:v100:4 gpu:v100:0 idle 0/8/0/8\n"
      "b gpu:v100:4 gpu:v100:1 mixed 30/2/0/32\n");
  BOOST_TEST(member_cpus(nodes, "v100", 1) == 1);  // ⌊7/4⌋ of node a
  BOOST_TEST(member_cpus(nodes, "v100", 2) == 2);
  BOOST_TEST(member_cpus(nodes, "p100", 2) == 2);  // nobody has it
  BOOST_TEST(free_gpus(nodes, "v100", 1) == 4 + 2);
  BOOST_TEST(free_gpus(nodes, "v100", 3) == 3);  // b has three free GPUs but two CPUs
}

BOOST_AUTO_TEST_CASE(reads_the_lead) {
  const std::string text =
      "JobId=1 JobName=a JobState=RUNNING Reason=None PreemptTime=None TimeLimit=00:30:00 "
      "EndTime=2026-12-01T12:30:00 Partition=all NumCPUs=4 JOB_GRES=gpu:v100:2   Nodes=v100-1 "
      "CPU_IDs=0 Mem=0 "
      "GRES=gpu:v100:2(IDX:0-1) MinCPUsNode=1 MinMemoryNode=2000M TresPerNode=gres:gpu:v100:2 \n";
  const LeadInfo lead = parse_lead(text);
  BOOST_TEST(lead.end_s == 1796128200.0);
  BOOST_TEST((lead.gpus == GpuCounts{{"v100", 2}}));
  BOOST_TEST(lead.memory == "2000M");
  BOOST_TEST(lead.partition == "all");
  BOOST_TEST(lead.preempt_s == 0.0);
  const LeadInfo plain =
      parse_lead("JobId=1 TimeLimit=UNLIMITED EndTime=Unknown JOB_GRES=(null) MinMemoryNode=0");
  BOOST_TEST(plain.end_s == -1.0);
  BOOST_TEST(plain.gpus.empty());
  BOOST_TEST(plain.memory == "");
  BOOST_TEST(parse_lead("JobId=1 NumCPUs=4 MinMemoryCPU=500M").memory == "2000M");
  BOOST_CHECK_THROW(parse_lead("slurm_load_jobs error: Invalid job id specified"), InputError);
}

BOOST_AUTO_TEST_CASE(finds_the_controller) {
  BOOST_TEST(
      controller_address(
          "X = 1\nSlurmctldHost[0]        = vm(127.0.0.1)\nSlurmctldHost[1] = b(10.0.0.2)\n") ==
      "127.0.0.1");
  BOOST_TEST(controller_address("SlurmctldHost[0] = ctl\n") == "ctl");
  BOOST_TEST(controller_address("") == "");
}

BOOST_AUTO_TEST_CASE(reads_the_parsable_id) {
  BOOST_TEST(parse_parsable_id("123\n") == 123);
  BOOST_TEST(parse_parsable_id("123;cluster\n") == 123);
  BOOST_TEST(parse_parsable_id("Submitted batch job 123") == 0);
  BOOST_TEST(parse_parsable_id("") == 0);
  BOOST_TEST(parse_parsable_id("-4") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

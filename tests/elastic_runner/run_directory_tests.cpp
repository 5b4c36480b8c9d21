#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>

#include "allocator/error.h"
#include "elastic_runner/console.h"
#include "elastic_runner/run_claim.h"
#include "elastic_runner/run_directory.h"
#include "tests/support/temp_dir.h"

using namespace jabas;

namespace {

// Sets variables for one test and takes them back.
class Environment {
 public:
  Environment(std::initializer_list<std::pair<const char*, const char*>> values) {
    for (const auto& [name, value] : values) {
      ::setenv(name, value, 1);
      names_.push_back(name);
    }
  }
  ~Environment() {
    for (const char* name : names_) ::unsetenv(name);
  }

 private:
  std::vector<const char*> names_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(run_directory_tests)

BOOST_AUTO_TEST_CASE(endpoint_is_waited_for_with_a_deadline) {
  const TempDir dir;
  BOOST_TEST(read_endpoint(dir.path()) == "");
  BOOST_CHECK_EXCEPTION(
      wait_for_endpoint(dir.path(), std::chrono::seconds(0)), InputError,
      [&](const InputError& error) {
        return error.what() ==
               dir.path() +
                   "/endpoint: not there after 0 s: the job's daemon does not run (see jabasd.log "
                   "there); nothing was started";
      });
  std::ofstream(dir / "endpoint") << "tcp://127.0.0.1:5000\n";
  BOOST_TEST(wait_for_endpoint(dir.path(), std::chrono::seconds(0)) == "tcp://127.0.0.1:5000");
}

BOOST_AUTO_TEST_CASE(data_address_is_the_one_toward_the_daemon) {
  BOOST_TEST(data_address("tcp://127.0.0.1:5000") == "127.0.0.1");
  BOOST_CHECK_THROW(data_address("127.0.0.1"), InputError);
  BOOST_CHECK_THROW(data_address("tcp://no.such.host.invalid:1"), InputError);
}

BOOST_AUTO_TEST_CASE(an_interface_can_be_chosen_by_address_or_name) {
  {
    const Environment chosen{{"JABAS_INTERFACE", "10.1.2.3"}};
    BOOST_TEST(data_address("tcp://127.0.0.1:5000") == "10.1.2.3");
  }
  {
    const Environment chosen{{"JABAS_INTERFACE", "lo"}};
    BOOST_TEST(data_address("tcp://192.0.2.1:5000") == "127.0.0.1");
  }
  const Environment chosen{{"JABAS_INTERFACE", "nosuch0"}};
  BOOST_CHECK_EXCEPTION(data_address("tcp://127.0.0.1:5000"), InputError,
                        [](const InputError& error) {
                          return std::string(error.what()) ==
                                 "JABAS_INTERFACE=nosuch0: accepted are an IP address or an "
                                 "interface with an IPv4 address";
                        });
}

// The k-th train of a script finds the folder of the k-th train of the life before the requeue.
BOOST_AUTO_TEST_CASE(each_train_of_a_script_claims_its_own_checkpoint_folder) {
  const TempDir dir;
  const std::string base = dir.path() + "/checkpoints/run-";
  BOOST_TEST(claim_checkpoint_folder(dir.path(), 0) == base + "1");
  BOOST_TEST(claim_checkpoint_folder(dir.path(), 0) == base + "2");
  BOOST_TEST(claim_checkpoint_folder(dir.path(), 1) == base + "1");
  BOOST_TEST(claim_checkpoint_folder(dir.path(), 1) == base + "2");
  BOOST_TEST(claim_checkpoint_folder(dir.path(), 1) == base + "3");
}

BOOST_AUTO_TEST_CASE(members_get_a_scrubbed_environment) {
  std::vector<std::string> texts = {"PATH=/bin",
                                    "SLURM_JOB_ID=7",
                                    "SLURM_CONF=/c",
                                    "SBATCH_X=1",
                                    "SRUN_Y=1",
                                    "PMI_RANK=0",
                                    "PMIX_RANK=0",
                                    "HOME=/h",
                                    "SPANK_JABAS=1",
                                    "CUDA_VISIBLE_DEVICES=0",
                                    "JABAS_MEMBER=1.0",
                                    "JABAS_PROFILE=/p",
                                    "_SLURM_SPANK_X=1",
                                    "EMPTY=",
                                    "SLURM_SPANK_OPTION_a=1",
                                    "JABAS_INTERFACE=lo"};
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const std::map<std::string, std::string> expected = {{"PATH", "/bin"}, {"SLURM_CONF", "/c"},
                                                       {"HOME", "/h"},   {"JABAS_PROFILE", "/p"},
                                                       {"EMPTY", ""},    {"JABAS_INTERFACE", "lo"}};
  BOOST_TEST((member_environment(pointers.data()) == expected));
}

BOOST_AUTO_TEST_CASE(base_gpus_are_those_slurm_gave) {
  ::unsetenv("SLURM_GPUS_ON_NODE");
  ::unsetenv("SLURM_JOB_GPUS");
  ::unsetenv("SLURM_JOB_ID");
  {
    const Environment none{{"CUDA_VISIBLE_DEVICES", "0,1"}};
    BOOST_TEST(base_gpus() == 0);  // a workstation's setting, not a job's
  }
  {
    const Environment job{{"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "0,1"}};
    BOOST_TEST(base_gpus() == 2);
  }
  {
    const Environment job{{"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "NoDevFiles"}};
    BOOST_TEST(base_gpus() == 0);
  }
  const Environment job{{"SLURM_JOB_ID", "7"}, {"SLURM_GPUS_ON_NODE", "3"}};
  BOOST_TEST(base_gpus() == 3);
}

BOOST_AUTO_TEST_SUITE_END()

// The profile a run decides with: the file the user gave, what calibrations measured of types that
// it lacks, the network as the ranks saw it where the file says nothing of it, all corrected by the
// step times measured since; types never seen are scaled by TFLOP/s. When nothing is known at all
// the first decision uses nominal times in proportion to 1/TFLOP/s.
// Threads: one owner.   Errors: InputError from the profile file.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/measured_network.h"
#include "allocator/online_correction.h"
#include "allocator/profile.h"

namespace jabas {

// Measured ÷ predicted times, as the journal has it.
struct CorrectionRecord {
  std::string gpu_type;  // "" = of all-reduces, else of the type's computing
  double factor = 1, deviation = 0;
  int reports = 0;
};

class RunProfile {
 public:
  // "" = no file.
  explicit RunProfile(const std::string& path);
  // Forgets what an earlier training measured: another one may have another model.
  void begin_run();

  // Times of the type are known, measured apart from training.
  bool knows(const std::string& type) const;
  // False, and nothing changes, if the type is known or no usable point is there.
  bool calibrated(const Calibration& calibration);
  // GPUs of the type in one node of the cluster, where the file does not say it.
  void set_gpus_per_node(const std::string& type, int gpus);
  // One rank's own times; `training` = the generation they belong to.
  void measured(const std::string& worker, const WorkerTimes& times,
                const std::vector<PlanMember>& training);
  void restore(const CorrectionRecord& correction);
  // Those that have moved by at least 1 % since they were last taken.
  std::vector<CorrectionRecord> take_corrections();

  // A profile with every one of `types` that can be described; `notes` gets a line for each that is
  // scaled, corrected by more than 5 %, or left out.
  Profile for_types(const std::vector<std::string>& types, std::int64_t local_batch,
                    std::vector<std::string>* notes) const;
  bool from_file() const { return from_file_; }
  const std::string& source() const { return file_.source; }
  // What is doubtful in the file.
  std::vector<std::string> warnings() const { return profile_warnings(file_); }

 private:
  void add_point(const WorkerTimes& times);
  void compare_compute(const WorkerTimes& times);
  void take_in_all_reduces(const std::string& worker, const WorkerTimes& times,
                           const std::vector<PlanMember>& training);
  Profile corrected(const std::vector<std::string>& types, std::vector<std::string>* notes) const;
  bool only_calibrated(const std::string& type) const;
  double shared_factor() const;

  bool from_file_ = false;
  Profile file_;                         // empty without one
  Profile profile_;                      // with what was measured, before corrections
  std::set<std::string> from_training_;  // types that only training steps measured, point by point
  MeasuredNetwork network_;
  std::map<std::string, OnlineCorrection> corrections_;  // by type; "" = all-reduces
  std::map<std::string, double> taken_;                  // factors
  std::map<std::string, int> gpus_per_node_;
};

}  // namespace jabas

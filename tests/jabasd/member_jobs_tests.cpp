#include <boost/test/unit_test.hpp>

#include "spank_plugin/jabasd/member_jobs.h"
#include "spank_plugin/jabasd/pending_reason.h"

using namespace jabas;

namespace {

using Kind = MemberChange::Kind;

JobRow row(long job_id, int request, const std::string& state, const std::string& reason = "") {
  JobRow result;
  result.job_id = job_id;
  result.comment = "jabas:" + std::to_string(request) + ":v100";
  result.state = state;
  result.reason = reason;
  result.submit_s = 10;
  if (state != "PENDING") result.start_s = 12;
  return result;
}

SubmitOutcome submitted(long job_id) { return {SubmitOutcome::Kind::kSubmitted, job_id, ""}; }
const SubmitOutcome kNoAnswer = {SubmitOutcome::Kind::kUnknown, 0, "no answer"};
const SubmitOutcome kRefused = {SubmitOutcome::Kind::kRefused, 0, "QOSMaxSubmitJobPerUserLimit"};

std::vector<Kind> kinds(const std::vector<MemberChange>& changes) {
  std::vector<Kind> result;
  for (const MemberChange& change : changes) result.push_back(change.kind);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(member_jobs_tests)

BOOST_AUTO_TEST_CASE(follows_a_job_from_request_to_end) {
  MemberJobs jobs;
  const int request = jobs.add("v100", 2, 9);
  BOOST_TEST((jobs.outstanding() == GpuCounts{{"v100", 2}}));
  BOOST_TEST(
      (kinds(jobs.submit_outcome(request, submitted(55), 10)) == std::vector{Kind::kPending}));
  BOOST_TEST((kinds(jobs.reconcile({row(55, request, "PENDING", "Priority")}, 11, 11)) ==
              std::vector{Kind::kPending}));
  BOOST_TEST(jobs.reconcile({row(55, request, "PENDING", "Priority")}, 12, 12).empty());
  BOOST_TEST((kinds(jobs.reconcile({row(55, request, "RUNNING")}, 13, 13)) ==
              std::vector{Kind::kRunning}));
  BOOST_TEST(jobs.find_job("55")->start_s == 12.0);
  BOOST_TEST((kinds(jobs.reconcile({row(55, request, "COMPLETED")}, 14, 14)) ==
              std::vector{Kind::kEnded}));
  BOOST_TEST(!jobs.any_alive());
  BOOST_TEST(jobs.reconcile({row(55, request, "COMPLETED")}, 15, 15).empty());
}

// Unknown is not gone: one list without the job proves nothing, and neither does one asked before
// it was submitted.
BOOST_AUTO_TEST_CASE(a_job_is_gone_after_two_lists_without_it) {
  MemberJobs jobs;
  const int request = jobs.add("v100", 1, 9);
  jobs.submit_outcome(request, submitted(55), 10);
  BOOST_TEST(jobs.reconcile({}, 9.5, 10.5).empty());
  BOOST_TEST(jobs.reconcile({}, 11, 11).empty());
  BOOST_TEST(jobs.reconcile({row(55, request, "RUNNING")}, 12, 12).size() == 1u);
  BOOST_TEST(jobs.reconcile({}, 13, 13).empty());
  BOOST_TEST((kinds(jobs.reconcile({}, 14, 14)) == std::vector{Kind::kEnded}));
}

// sbatch timed out: the comment in squeue tells whether it was submitted, before anything is asked
// again.
BOOST_AUTO_TEST_CASE(a_time_out_is_resolved_by_the_comment) {
  MemberJobs jobs;
  const int found = jobs.add("v100", 1, 9), lost = jobs.add("v100", 1, 9);
  BOOST_TEST(jobs.submit_outcome(found, kNoAnswer, 10).empty());
  BOOST_TEST(jobs.submit_outcome(lost, kNoAnswer, 10).empty());
  BOOST_TEST((jobs.outstanding() == GpuCounts{{"v100", 2}}));  // nothing is asked again meanwhile
  BOOST_TEST(jobs.reconcile({row(77, found, "RUNNING")}, 11, 11).size() == 1u);
  BOOST_TEST(jobs.find(found)->job_id == 77);
  BOOST_TEST((kinds(jobs.reconcile({row(77, found, "RUNNING")}, 12, 12)) ==
              std::vector{Kind::kSubmitFailed}));
  BOOST_TEST((jobs.outstanding() == GpuCounts{{"v100", 1}}));
}

BOOST_AUTO_TEST_CASE(squeue_may_know_the_job_before_sbatch_answers) {
  MemberJobs jobs;
  const int request = jobs.add("v100", 1, 9);
  BOOST_TEST(jobs.reconcile({row(55, request, "RUNNING")}, 10, 10).size() == 1u);
  BOOST_TEST(jobs.submit_outcome(request, submitted(55), 11).empty());
  BOOST_TEST((jobs.find(request)->state == MemberState::kRunning));
}

BOOST_AUTO_TEST_CASE(back_off_doubles_per_type_and_ends_when_one_joins) {
  MemberJobs jobs;
  double now = 100;
  for (const double wait : {30.0, 60.0, 120.0, 240.0, 480.0, 600.0, 600.0}) {
    BOOST_TEST((kinds(jobs.submit_outcome(jobs.add("v100", 1, now), kRefused, now)) ==
                std::vector{Kind::kSubmitFailed}));
    BOOST_TEST(jobs.backing_off("v100", now + wait - 1));
    BOOST_TEST(!jobs.backing_off("v100", now + wait));
    BOOST_TEST(!jobs.backing_off("p100", now));
    now += wait;
  }
  jobs.failed("v100", now);
  jobs.joined("v100");
  BOOST_TEST(!jobs.backing_off("v100", now));
}

BOOST_AUTO_TEST_CASE(a_held_job_will_never_start) {
  for (const char* reason : {"launch failed requeued held", "launch_failed_requeued_held",
                             "JobHeldAdmin", "BadConstraints"}) {
    MemberJobs jobs;
    const int request = jobs.add("v100", 1, 9);
    jobs.submit_outcome(request, submitted(55), 10);
    BOOST_TEST((kinds(jobs.reconcile({row(55, request, "PENDING", reason)}, 11, 11)) ==
                std::vector{Kind::kNeverStarts}));
    BOOST_TEST(jobs.backing_off("v100", 12));
  }
}

BOOST_AUTO_TEST_CASE(limits_and_resources_are_waited_for) {
  BOOST_TEST((pending_kind("Resources") == PendingKind::kWaiting));
  BOOST_TEST((pending_kind("QOSMaxGRESPerUser") == PendingKind::kWaiting));
  BOOST_TEST((pending_kind("AssocGrpGRES") == PendingKind::kWaiting));
  BOOST_TEST((pending_kind("SomethingOfALaterSlurm") == PendingKind::kWaiting));
  BOOST_TEST((pending_kind("None") == PendingKind::kSoon));
  BOOST_TEST((pending_kind("") == PendingKind::kSoon));
}

BOOST_AUTO_TEST_CASE(a_type_with_a_pending_member_is_not_free) {
  MemberJobs jobs;
  const int request = jobs.add("v100", 1, 9);
  jobs.submit_outcome(request, submitted(55), 10);
  BOOST_TEST(!jobs.pends_for_resources("v100"));
  jobs.reconcile({row(55, request, "PENDING", "Resources")}, 11, 11);
  BOOST_TEST(jobs.pends_for_resources("v100"));
  BOOST_TEST(!jobs.pends_for_resources("p100"));
}

BOOST_AUTO_TEST_CASE(preemption_is_reported_once) {
  MemberJobs jobs;
  const int request = jobs.add("v100", 1, 9);
  jobs.submit_outcome(request, submitted(55), 10);
  JobRow preempted = row(55, request, "RUNNING");
  jobs.reconcile({preempted}, 11, 11);
  preempted.preempt_s = 12;
  BOOST_TEST((kinds(jobs.reconcile({preempted}, 12, 12)) == std::vector{Kind::kPreempted}));
  BOOST_TEST(jobs.reconcile({preempted}, 13, 13).empty());
}

BOOST_AUTO_TEST_CASE(an_unknown_state_is_alive_and_completing_is_not) {
  BOOST_TEST(!ended_state("RESIZING_OF_A_LATER_SLURM"));
  BOOST_TEST(!ended_state("RUNNING"));
  BOOST_TEST(ended_state("COMPLETING"));
  BOOST_TEST(ended_state("OUT_OF_MEMORY"));
}

BOOST_AUTO_TEST_CASE(numbers_go_on_after_an_adopted_member) {
  MemberJobs jobs(3);
  Member member;
  member.request = 8;
  jobs.adopt(member);
  BOOST_TEST(jobs.add("v100", 1, 1) == 9);
}

BOOST_AUTO_TEST_SUITE_END()

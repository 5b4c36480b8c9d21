#!/bin/bash
# sbatch_templates/profile.sbatch on two nodes: computing, streams, memory and all-reduces inside and across nodes; what
# two types measured is merged and read by the solver.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export PATH=$BUILD_DIR/bin:$PATH
cluster_up --nodes v100:2x1,p100:1x1
cd "$WORK"
small=(--model gpt --layers 1 --width 16 --heads 2 --sequence-length 16 --subset 64 --batches 4,8 --max-streams 2 --steps 3)

step "a profile of each type"
two=$(sbatch --parsable -N2 --gres=gpu:v100:1 "$SOURCE_DIR/sbatch_templates/profile.sbatch" v100 "${small[@]}")
one=$(sbatch --parsable -N1 --gres=gpu:p100:1 "$SOURCE_DIR/sbatch_templates/profile.sbatch" p100 "${small[@]}")
for job in "$two" "$one"; do
  wait_for 60 job_ended "$job"
  job_has_state "$job" COMPLETED || fail "job $job: $(job_field "$job" JobState): $(cat "jabas-profile-$job.out")"
done
assert_contains "jabas-profile-$two.out" "all-reduce across 2 nodes"
assert_contains "jabas-profile-$two.out" "local batch 8, 2 streams: "
assert_contains "jabas-profile-$one.out" "all-reduce across nodes: not measured"
[[ -z $(find . -name '.jabas-profile-*') ]] || fail "a meeting place was left behind"

step "merged, and read by the solver"
jabas-sim merge profile-v100.json profile-p100.json -o both.json
jabas-sim solve --profile both.json --cluster v100:1,v100:1,p100:1 --lbs 8 --workers 6 >solution.txt
cat solution.txt

step "several tasks on one node are refused"
status=0
srun -N1 -n2 --gres=gpu:v100:1 jabas-run profile --gpu-type v100 -o x.json "${small[@]}" >refused.txt 2>&1 || status=$?
assert_equal 2 "$status" "exit code"
assert_contains refused.txt "profile: 2 tasks of one srun on 1 nodes; accepted is one task on each"

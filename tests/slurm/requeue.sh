#!/bin/bash
# A requeued lead resumes by itself from its newest checkpoint, with members of its own restart; those of the first are gone.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/training.sh"
cluster_up --nodes v100:1x2 --plugin "$PLUGIN"

train requeued --requeue --jabas-gpus=v100:2-2 --jabas-batch=64-64 -- \
  --epochs 4 --subset 4000 --adaptive off --ledger-out "$WORK/ledger"
wait_for 120 has_records epoch 1
scontrol requeue "$JOB"
wait_for 60 no_members
wait_for 240 job_ended "$JOB"
job_has_state "$JOB" COMPLETED || fail "the requeued job: $(job_field "$JOB" JobState)"
assert_equal 1 "$(job_field "$JOB" Restarts)" "restarts"
grep -q '"restart":1' <(records end) || fail "no end record of the second life: $(records end)"
# Epochs finished in the first life are not trained again.
assert_equal "1 2 3 4" "$(records epoch | sed -E 's/.*"epoch":([0-9]+).*/\1/' | sort -n | tr '\n' ' ' | sed 's/ $//')" "finished epochs"
[[ -z $(squeue -h -o %j | grep "^jabas-$JOB") ]] || fail "members left: $(squeue -h -o %j)"
jabas-run check-ledger "$WORK/ledger"

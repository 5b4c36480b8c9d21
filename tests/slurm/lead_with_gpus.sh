#!/bin/bash
# A lead that holds a GPU itself: it counts in MIN-MAX of its type, is always part of the run, and a type that was not
# listed is implied. The lead without GPUs is what the quickstart and the other tests use.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/training.sh"
cluster_up --nodes v100:1x2,p100:1x2 --plugin "$PLUGIN"
prices 0.1 5

step "the base GPU trains beside members"
train base --gres=gpu:v100:1 --jabas-gpus=v100:1-2,p100:0-1 --jabas-prices="$WORK/prices.json" --jabas-objective=time \
  --jabas-batch=128-128 -- --epochs 3 --subset 4000 --adaptive off --ledger-out "$WORK/ledger"
wait_for 180 job_ended "$JOB"
assert_completed "the run"
grep -q '"base":{"v100":1}' <(records train) || fail "base GPUs: $(records train)"
grep -q "\"worker_id\":\"$JOB.0\"" <(records prepare | head -n 1) || fail "the base GPU is not in generation 1"
has_records submitted 1 || fail "no member was asked for"
jabas-run check-ledger "$WORK/ledger"

step "only base GPUs: no member is ever asked for"
train alone --gres=gpu:p100:1 --jabas-gpus=p100:1-1 --jabas-prices="$WORK/prices.json" --jabas-batch=64-64 -- \
  --epochs 1 --subset 1000 --adaptive off
wait_for 120 job_ended "$JOB"
assert_completed "the run"
assert_equal "" "$(records submitted)" "member jobs"

step "MAX below the base GPUs is an error at the start"
train below --gres=gpu:v100:2 --jabas-gpus=v100:0-1 --jabas-prices="$WORK/prices.json" -- --epochs 1 --subset 1000
wait_for 60 job_ended "$JOB"
assert_equal 2:0 "$(job_field "$JOB" ExitCode)" "exit code"
assert_contains "$WORK/below.out" "v100"

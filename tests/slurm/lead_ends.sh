#!/bin/bash
# However the lead job ends, no member job stays in the queue: scancel; kill -9 of supervisor and daemon at once.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/training.sh"
cluster_up --nodes v100:1x2,p100:1x2 --plugin "$PLUGIN"
prices 1 1

start() {  # NAME: a long training that holds two members
  train "$1" --jabas-gpus=v100:1-1,p100:1-1 --jabas-prices="$WORK/prices.json" --jabas-batch=64-64 -- \
    --epochs 1000 --subset 2000 --adaptive off
  wait_for 60 has_records switched 1
  members_running 2 || fail "two members should run: $(members)"
}

step "scancel of the lead"
start cancelled
scancel "$JOB"
wait_for 60 no_members
wait_for 30 job_ended "$JOB"
[[ -n $(records end) ]] || fail "no end record in $(journal)"
echo "end: $(records end)"

step "kill -9 of supervisor and daemon"
start killed
daemon=$(records job | sed -nE 's/.*"pid":([0-9]+).*/\1/p')
supervisor=$(sed -n 's/^PPid:\t//p' "/proc/$daemon/status")
assert_equal jabasd "$(cat "/proc/$daemon/comm")" "the daemon"
assert_equal jabas-supervise "$(cat "/proc/$supervisor/comm")" "the daemon's parent"
kill -KILL "$supervisor" "$daemon"
wait_for 10 process_gone "$daemon"
wait_for 60 no_members
wait_for 30 job_ended "$JOB"

#!/bin/bash
# One train at a time: a second one beside the first is refused, one after it is run 2 of the same journal.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/training.sh"
cluster_up --nodes v100:1x2 --plugin "$PLUGIN"

cat >"$WORK/two.sh" <<END
#!/bin/bash
options="--device emulated --emulate $PROFILE --adaptive off --subset 4000"
jabas-run train \$options --epochs 2 &
until grep -q '"type":"train"' "\$JABAS_RUN_DIR/journal.jsonl" 2>/dev/null; do sleep 0.1; done
jabas-run train \$options --epochs 2 >"$WORK/beside.out" 2>&1
echo "\$?" >"$WORK/beside.code"
wait \$! || exit
jabas-run train \$options --epochs 1
END
JOB=$(sbatch --parsable -o "$WORK/two.out" --jabas-state="$STATE" --jabas-profile="$PROFILE" --jabas-gpus=v100:1-1 \
  --jabas-batch=64-64 "$WORK/two.sh")
wait_for 120 job_ended "$JOB"
assert_completed "the job"
assert_equal 2 "$(cat "$WORK/beside.code")" "exit code of the second train"
assert_contains "$WORK/beside.out" "a train of this job is running already; start the next one when it has ended"
assert_equal 2 "$(records train | wc -l)" "trains in the journal"
grep -q '"run":2,.*"state":"completed"' <(records end) || fail "run 2 did not complete: $(records end)"

#!/bin/bash
# The batch step of a JABAS job: the supervisor is the task, the script its child, the daemon beside it. What the user
# sees of the script stays as it was, nothing is left behind, and nothing inside the job starts another daemon.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
fake_libexec "$WORK/libexec"
cluster_up --nodes v100:1x2,p100:1x1 --plugin "$PLUGIN" --libexec "$WORK/libexec"
cd "$WORK"
daemons=$WORK/libexec/daemons
cluster=$(scontrol show config | sed -n 's/^ClusterName *= *//p')

# submit NAME OPTION… <script: sets JOB; the output goes to NAME.out.
submit() {
  local name=$1
  shift
  { echo '#!/bin/bash'; cat; } >"$name.sh"
  JOB=$(sbatch --parsable -o "$name.out" "$@" "$name.sh")
}
ends() { wait_for 30 job_ended "$JOB"; }
no_daemon() { [[ ! -e $daemons/$1 ]] || fail "job $1 started a daemon"; }

step "exit code, run directory, daemon's arguments"
echo '{}' >prices.json
submit code --chdir=/ --jabas-gpus=v100:0-2,p100:1-1 --jabas-state="$WORK/state" --jabas-wait=90 \
  --jabas-prices=prices.json --jabas-unit=2 --jabas-member='v100:-p "all"' -o "$WORK/code.out" <<<'
echo "run dir $JABAS_RUN_DIR"; env | grep SPANK
until [[ -e '"$daemons"'/$SLURM_JOB_ID ]]; do sleep 0.1; done; exit 5'
ends
assert_equal 5:0 "$(job_field "$JOB" ExitCode)" ExitCode
assert_equal FAILED "$(job_field "$JOB" JobState)" JobState
run_dir=$WORK/state/$cluster/$JOB
assert_equal "run dir $run_dir" "$(cat code.out)" "output of the script"
assert_equal "--run-dir $run_dir --jabas-gpus=v100:0-2,p100:1-1 --jabas-unit=2 --jabas-prices=$WORK/prices.json \
--jabas-wait=0-01:30:00 --jabas-state=$WORK/state --jabas-member=v100:-p \"all\"" \
  "$(cut -d' ' -f2- "$daemons/$JOB")" "arguments of the daemon"
[[ -e $WORK/libexec/drained/$JOB ]] || fail "the daemon was not told to drain"

step "success; the default state directory"
HOME=$WORK/home submit success --jabas-gpus=v100:0-2 <<<'echo "$JABAS_RUN_DIR"'
ends
assert_equal COMPLETED "$(job_field "$JOB" JobState)" JobState
assert_equal "$WORK/home/.jabas/$cluster/$JOB" "$(cat success.out)" JABAS_RUN_DIR

step "a script that dies by a signal"
submit signal --jabas-gpus=v100:0-2 <<<'kill -USR1 $$'
ends
assert_equal 0:10 "$(job_field "$JOB" ExitCode)" ExitCode

# A script that leaves its process numbers and its supervisor's in NAME.pids, with a child in the foreground.
long_job() {
  submit "$1" --jabas-gpus=v100:0-2 <<<'sleep 300 & until [[ -s '"$daemons"'/$SLURM_JOB_ID ]]; do sleep 0.1; done
echo "$PPID $$ $! $(cut -d" " -f1 '"$daemons"'/$SLURM_JOB_ID)" >'"$WORK/$1"'.new; mv '"$WORK/$1.new $WORK/$1"'.pids; wait'
  wait_for 30 test -e "$1.pids"
  read -r -a pids <"$1.pids"
}

step "scancel leaves nothing"
long_job cancelled
scancel "$JOB"
ends
for pid in "${pids[@]}"; do wait_for 15 process_gone "$pid"; done
assert_equal CANCELLED "$(job_field "$JOB" JobState)" JobState
[[ -e $WORK/libexec/drained/$JOB ]] || fail "the daemon was not told to drain"

step "kill -9 of the supervisor takes everything along"
long_job killed
assert_equal jabas-supervise "$(cat "/proc/${pids[0]}/comm")" "the script's parent"
kill -KILL "${pids[0]}"
ends
for pid in "${pids[@]}"; do wait_for 15 process_gone "$pid"; done

step "a signal for the script arrives there"
submit usr1 --jabas-gpus=v100:0-2 <<<'trap "echo got USR1; exit 3" USR1; touch '"$WORK"'/ready; while :; do sleep 0.1; done'
wait_for 30 test -e ready
scancel --batch --signal=USR1 "$JOB"
ends
assert_equal 3:0 "$(job_field "$JOB" ExitCode)" ExitCode
assert_equal "got USR1" "$(cat usr1.out)" "output of the script"

step "srun and sbatch inside the job start no daemon"
submit nested --jabas-gpus=v100:0-2 <<<'srun --overlap sh -c "env | grep SPANK; cat /proc/\$PPID/comm"
sbatch -W --parsable -o '"$WORK"'/inner.out --wrap="env | grep -E \"SPANK|JABAS_RUN\"; cat /proc/\$PPID/comm" >inner.job'
ends
assert_equal slurmstepd "$(cat nested.out)" "environment and parent of the step"
assert_equal slurmstepd "$(cat inner.out)" "environment and parent of the inner job"
[[ -e $daemons/$JOB ]] || fail "the outer job has no daemon"
no_daemon "$(cat inner.job)"

step "a member job starts no daemon"
JABAS_MEMBER=1.0 JABAS_RUN_DIR=/of/the/lead submit member --jabas-gpus=v100:0-2 <<<'echo "$JABAS_RUN_DIR"; env | grep SPANK'
ends
no_daemon "$JOB"
assert_equal /of/the/lead "$(cat member.out)" "output of the member"

step "--export=NONE"
submit none --export=NONE --jabas-gpus=v100:0-2 --jabas-state="$WORK/state" <<<'echo "$JABAS_RUN_DIR"
until [[ -e '"$daemons"'/$SLURM_JOB_ID ]]; do sleep 0.1; done'
ends
assert_equal "$WORK/state/$cluster/$JOB" "$(cat none.out)" "output of the script"

step "options without --jabas-gpus"
submit without --jabas-unit=2 <<<'echo "run dir ${JABAS_RUN_DIR-none}"'
ends
no_daemon "$JOB"
assert_contains without.out "jabas: --jabas-* options need --jabas-gpus: the script runs without JABAS"
assert_contains without.out "run dir none"

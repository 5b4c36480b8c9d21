#!/bin/bash
# Every wrong --jabas-* option is refused at submission, with a line that says what is accepted; sbatch --help shows them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cluster_up --nodes v100:1x2,p100:1x1 --plugin "$PLUGIN"
cd "$WORK"
printf '#!/bin/sh\n' >job.sh
echo '{}' >good.json
mkdir folder

# refused OPTION=VALUE MESSAGE: sbatch ends with 255, our line comes first, then sbatch's own.
refused() {
  local option=${1%%=*} value=${1#*=} status=0
  sbatch "--$1" job.sh >sbatch.out 2>&1 || status=$?
  assert_equal 255 "$status" "exit code for --$1"
  printf '%s\n' "sbatch: error: --$option=$value: $2; the job is not submitted" \
    "sbatch: error: Invalid --$option argument: $value" >expected
  diff -u expected sbatch.out || fail "text for --$1"
}

step "option values"
gpus='accepted: TYPE:MIN-MAX[,TYPE:MIN-MAX...], such as v100:0-4,p100:2-4'
refused jabas-gpus=v100 "'v100' is not TYPE:MIN-MAX; $gpus"
refused jabas-gpus=v100:2 "type v100: '2' is not MIN-MAX; $gpus"
refused jabas-gpus=v100:3-2 "type v100: MIN 3 is above MAX 2; $gpus"
refused jabas-gpus=v100:0-0 "type v100: MAX 0 is below 1; $gpus"
refused jabas-gpus=a100:0-2 "GPU type 'a100' is unknown; this cluster has p100, v100; $gpus"
refused jabas-gpus=v100:0-1,v100:1-2 "type v100 is given twice; $gpus"
refused jabas-unit=0 "0 is outside 1 to 1024; accepted: a whole number of GPUs per member job, 1 to 1024"
objective='accepted: time[:EPS] with EPS >= 0, cost, balanced[:ALPHA] with 0 <= ALPHA < 1, value:V with V > 0,'
objective+=' deadline:T with T as 8h, 90m, 600s or in the forms of --time, budget:X with X > 0, paper'
refused jabas-objective=speed "'speed' is not an objective; $objective"
refused jabas-objective=balanced:1 "ALPHA 1 is not below 1; for time alone use time; $objective"
refused jabas-batch=512-64 "MIN 512 is above MAX 64; accepted: MIN-MAX with 1 <= MIN <= MAX, such as 128-4096"
refused jabas-prices=none.json \
  "cannot read the file: No such file or directory; accepted: a readable file, or an http, https or file URL"
refused jabas-prices=ftp://host/p.json \
  "URL scheme 'ftp' is not http, https or file; accepted: a readable file, or an http, https or file URL"
refused jabas-profile=none.json "cannot read the file: No such file or directory; accepted: a readable file"
refused jabas-profile=folder "not a regular file; accepted: a readable file"
refused jabas-wait=soon "'soon' is not a duration; accepted: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS"
refused jabas-state=here "not an absolute path; accepted: an absolute path of a directory that all nodes share"
member="accepted: 'TYPE:sbatch options;TYPE:sbatch options...' without --wrap, --job-name, --output, --gres, --time,"
member+=" --comment, --export and --array"
refused "jabas-member=v100:--time=5" "type v100: --time is set by the system and cannot be given; $member"
refused "jabas-member=a100:-p x" "GPU type 'a100' is unknown; this cluster has p100, v100; $member"
refused jabas-gpus= "no value; $gpus"

step "a forgotten '='"
status=0
sbatch --jabas-gpus -n1 job.sh >sbatch.out 2>&1 || status=$?
assert_equal 255 "$status" "exit code"
assert_contains sbatch.out "--jabas-gpus=-n1: a value cannot start with '-' (write --jabas-gpus=VALUE); $gpus"

step "options that do not fit together, in both orders"
text="type v100 is in --jabas-member but not in --jabas-gpus"
for order in "--jabas-gpus=p100:0-1 --jabas-member=v100:-px" "--jabas-member=v100:-px --jabas-gpus=p100:0-1"; do
  # shellcheck disable=SC2086  # two options
  if sbatch $order job.sh >sbatch.out 2>&1; then fail "accepted: $order"; fi
  assert_contains sbatch.out "$text"
done

step "in the script, too"
printf '#!/bin/sh\n#SBATCH --jabas-unit=x\n' >lines.sh
if sbatch lines.sh >sbatch.out 2>&1; then fail "accepted: #SBATCH --jabas-unit=x"; fi
assert_contains sbatch.out "--jabas-unit=x: 'x' is not a whole number; "

step "srun and salloc"
for program in srun salloc; do
  status=0
  "$program" --jabas-gpus=v100:0-1 true >sbatch.out 2>&1 || status=$?
  assert_equal 255 "$status" "exit code of $program"
  assert_contains sbatch.out \
    "$program: error: --jabas-gpus: only sbatch can start a JABAS job, $program cannot; nothing is started"
done

assert_equal "" "$(squeue -h -t all -o %i)" "submitted jobs"

step "good options are accepted"
sbatch --test-only --jabas-gpus=v100:0-2,p100:1-1 --jabas-unit=1 --jabas-objective=balanced:0.3 --jabas-batch=64-512 \
  --jabas-prices=good.json --jabas-profile="$WORK/good.json" --jabas-wait=1-0 --jabas-state="$WORK/s" \
  --jabas-member='v100:--qos "a;b"; p100:-p all' job.sh

step "sbatch --help"
sbatch --help >help.out
for option in gpus=TYPE:MIN-MAX unit=N objective=time batch=MIN-MAX "prices=FILE|URL" profile=FILE wait=DURATION \
  state=DIR member=TYPE:OPTIONS; do
  assert_contains help.out "--jabas-$option"
done

step "a cluster that does not answer leaves types unchecked"
sed -e 's/^SlurmctldPort=.*/SlurmctldPort=1/' -e 's/^MessageTimeout=.*/MessageTimeout=1/' "$SLURM_CONF" >dead.conf
status=0
SLURM_CONF=$WORK/dead.conf timeout 100 sbatch --jabas-gpus=a100:0-2 --jabas-unit=0 job.sh >sbatch.out 2>&1 || status=$?
assert_equal 255 "$status" "exit code"
assert_contains sbatch.out "jabas: sinfo gave no answer within 5 s: GPU types are not checked"
assert_contains sbatch.out "--jabas-unit=0: 0 is outside 1 to 1024"

# For the tests that train on a private cluster with the real daemon and emulated GPUs. Sourced after lib.sh.
PROFILE=$SOURCE_DIR/sbatch_templates/quickstart_profile.json
STATE=$WORK/state
export PATH=$BUILD_DIR/bin:$PATH

# prices V100 P100: dollars per GPU-hour, replaced by rename.
prices() {
  printf '{"v100": %s, "p100": %s}\n' "$1" "$2" >"$WORK/prices.new"
  mv "$WORK/prices.new" "$WORK/prices.json"
}

# train NAME SBATCH_OPTION… -- TRAIN_OPTION…: submits, sets JOB; its output goes to NAME.out.
train() {
  local name=$1 options=()
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  {
    echo '#!/bin/sh'
    printf 'exec jabas-run train --device emulated --emulate %q' "$PROFILE"
    printf ' %q' "$@"
    echo
  } >"$WORK/$name.sh"
  JOB=$(sbatch --parsable -o "$WORK/$name.out" --jabas-state="$STATE" --jabas-profile="$PROFILE" "${options[@]}" "$WORK/$name.sh")
}

journal() { find "$STATE" -path "*/$JOB/journal.jsonl" 2>/dev/null | head -n 1; }
# records TYPE: the complete records of that type in the journal of JOB.
records() { grep "\"type\":\"$1\"" "$(journal)" 2>/dev/null || true; }
has_records() { (($(records "$1" | wc -l) >= $2)); }  # TYPE COUNT
members() { squeue -h -n "jabas-$JOB.0" -o '%i %T'; }
members_running() { (($(squeue -h -n "jabas-$JOB.0" -t RUNNING -o %i | wc -l) >= $1)); }
no_members() { [[ -z $(members) ]]; }

assert_completed() {  # WHAT
  job_has_state "$JOB" COMPLETED || fail "$1: $(job_field "$JOB" JobState)"
  wait_for 30 no_members
}

# For the tests on a private Slurm cluster. A test sources this file, calls cluster_up, and fails with `fail`, by an
# assertion, or by any command that fails (set -e). Everything lives in $WORK and is taken down when the test ends.
#
# Environment: JABAS_BUILD_DIR (default: build beside the sources).
set -eu -o pipefail
PATH=$PATH:/usr/sbin:/sbin
SOURCE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD_DIR=${JABAS_BUILD_DIR:-$SOURCE_DIR/build}
MINICLUSTER=$SOURCE_DIR/tests/minicluster/minicluster
PLUGIN=$BUILD_DIR/lib/spank_jabas.so

# CTest knows exit code 77 as "skipped" and shows the reason.
for program in munged slurmctld slurmd sbatch; do
  if ! command -v "$program" >/dev/null; then
    echo "SKIPPED: $program is not installed"
    exit 77
  fi
done

# Short, for the sockets; see minicluster.
WORK=$(mktemp -d /tmp/jt.XXXXXX)
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
cleanup() {
  local status=$? directory
  trap - EXIT
  trap "" PIPE  # the reader of our output may be gone; the cluster must come down all the same
  set +e
  for directory in "$WORK"/cluster*; do
    [[ -d $directory ]] || continue
    "$MINICLUSTER" down --dir "$directory" || status=1
    if ((status)); then tail -n 20 "$directory"/log/*.log; fi
  done
  if ((status)); then
    for directory in "$WORK"/*.out; do [[ -s $directory ]] && tail -n 30 "$directory"; done
    echo "FAILED (exit code $status)"
  else
    echo "PASSED"
  fi
  rm -rf "$WORK"
  exit "$status"
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
step() { echo "--- $*"; }

# cluster_up OPTION…: options of `minicluster up` but --dir; the cluster's commands then work in this shell.
cluster_up() {
  "$MINICLUSTER" up --dir "$WORK/cluster" "$@"
  eval "$("$MINICLUSTER" env --dir "$WORK/cluster")"
}

# wait_for SECONDS COMMAND…: until it succeeds; fails the test when the time is over.
wait_for() {
  local deadline=$((SECONDS + $1)) limit=$1
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || fail "not within $limit s: $*"
    sleep 0.1
  done
}

assert_equal() {  # EXPECTED ACTUAL WHAT
  [[ $1 == "$2" ]] || fail "$3: expected '$1', got '$2'"
}
assert_contains() {  # FILE TEXT
  grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"
}
assert_lacks() {  # FILE TEXT
  if grep -F -- "$2" "$1"; then fail "'$2' is in $1"; fi
}

job_field() {  # JOB FIELD, a key of scontrol show job
  scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}
job_has_state() { [[ $(job_field "$1" JobState) == "$2" ]]; }
job_ended() { [[ -z $(squeue -h -j "$1" -o %i 2>/dev/null) ]]; }

# A zombie is gone: in a container nobody may reap it.
process_gone() {
  local line
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
  [[ ${line##*) } == Z* ]]
}

# fake_libexec DIR: jabas-supervise, and a jabasd that only leaves DIR/daemons/JOB (its pid and arguments) and, when it is
# told to drain, DIR/drained/JOB.
fake_libexec() {
  mkdir -p "$1/daemons" "$1/drained"
  cp "$BUILD_DIR/bin/jabas-supervise" "$1/"
  cat >"$1/jabasd" <<END
#!/bin/sh
trap 'echo yes >"$1/drained/\$SLURM_JOB_ID"; exit 0' TERM
echo "\$\$ \$*" >>"$1/daemons/\$SLURM_JOB_ID"
while :; do sleep 0.1; done
END
  chmod +x "$1/jabasd"
}

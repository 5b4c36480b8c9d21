#!/bin/bash
# Two private clusters live side by side, know nothing of each other, and leave no process when they are taken down.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

in_cluster() {  # LETTER COMMAND…
  local directory=$WORK/cluster$1
  shift
  (eval "$("$MINICLUSTER" env --dir "$directory")" && "$@")
}
# No process has the directory in its arguments or environment. (From a file: grep would find its own argument.)
none_left() {
  echo "$1" >"$WORK/pattern"
  ! grep -qsaF -f "$WORK/pattern" /proc/[0-9]*/cmdline /proc/[0-9]*/environ
}

step "two at the same time"
"$MINICLUSTER" up --dir "$WORK/clusterA" --nodes v100:2x2 &
first=$!
"$MINICLUSTER" up --dir "$WORK/clusterB" --nodes p100:1x1,cpu:1x0
wait "$first"
assert_equal "v100-[1-2]" "$(in_cluster A sinfo -h -o %N)" "nodes of A"
assert_equal "cpu-1,p100-1" "$(in_cluster B sinfo -h -o %N)" "nodes of B"
assert_equal "gpu:v100:2" "$(in_cluster A sinfo -h -o %G)" "GPUs of A"

step "a job in each; in A one that leaves a process behind"
cat >"$WORK/leave.sh" <<END
#!/bin/bash
setsid sleep 600 &
echo \$! >"$WORK/left.new"
mv "$WORK/left.new" "$WORK/left"
END
in_cluster A sbatch -o /dev/null "$WORK/leave.sh"
in_cluster A sbatch -o /dev/null --gres=gpu:v100:2 --wrap 'sleep 600'
other=$(in_cluster B sbatch --parsable -o /dev/null --wrap 'sleep 600')
wait_for 30 test -e "$WORK/left"
if process_gone "$(cat "$WORK/left")"; then fail "the process that was to be left behind is gone already"; fi
wait_for 30 in_cluster B job_has_state "$other" RUNNING

if none_left "$WORK/clusterA"; then fail "the processes of A are not found"; fi

step "A goes down, B stays"
"$MINICLUSTER" down --dir "$WORK/clusterA" | tee "$WORK/down.out"
assert_contains "$WORK/down.out" "down: nothing of $WORK/clusterA is left running"
wait_for 5 process_gone "$(cat "$WORK/left")"
wait_for 5 none_left "$WORK/clusterA"
in_cluster B job_has_state "$other" RUNNING

step "down can be repeated; up can follow, with other job numbers"
assert_equal "minicluster: no cluster in $WORK/clusterA" "$("$MINICLUSTER" down --dir "$WORK/clusterA")" "second down"
"$MINICLUSTER" up --dir "$WORK/clusterA" --nodes v100:1x1
job=$(in_cluster A sbatch --parsable -o /dev/null --wrap true)
((job > 10000)) || fail "job $job has a number that the first start may have used"

step "what up refuses"
refused() {  # MESSAGE OPTION…
  local message=$1 status=0
  shift
  "$MINICLUSTER" up "$@" >"$WORK/up.out" 2>&1 || status=$?
  assert_equal 2 "$status" "exit code of up $*"
  assert_equal "minicluster: $message" "$(cat "$WORK/up.out")" "text of up $*"
}
refused "--dir $WORK/clusterA: a cluster is running there; take another directory, or stop it with: \
minicluster down --dir $WORK/clusterA" --dir "$WORK/clusterA" --nodes v100:1x1
long=$WORK/$(printf 'x%.0s' {1..60})
socket=$long/spool/v100-1/v100-1_99999999.4294967291
refused "--dir $long is too long: the Unix socket $socket would have ${#socket} characters and at most 107 are \
possible; take a directory shorter by $((${#socket} - 107))" --dir "$long" --nodes v100:1x1
refused "--nodes: 'v100' is not TYPE:NODESxGPUS, such as v100:2x2 or cpu:1x0" --dir "$WORK/c" --nodes v100

step "both go down"
for letter in A B; do
  "$MINICLUSTER" down --dir "$WORK/cluster$letter"
  wait_for 5 none_left "$WORK/cluster$letter"
done

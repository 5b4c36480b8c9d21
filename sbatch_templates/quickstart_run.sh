#!/usr/bin/env bash
# The run phase of the quickstart: a private Slurm cluster, one training with changing spot prices, the decisions.
#   quickstart_run.sh BUILD_DIR
# Exit 0 only if every assertion at the end holds; also a CTest entry (slurm.quickstart).
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
# shellcheck source=setup.sh
. "$root/sbatch_templates/setup.sh"

cluster="$root/tests/minicluster/minicluster"
dir=$(mktemp -d /tmp/jabas-qs.XXXXXX) || exit 1
journal=
finish() {
  trap "" PIPE  # the reader of our output may be gone; the cluster must come down all the same
  say "stopping the private cluster"
  "$cluster" down --dir "$dir/cluster"
  if [ "${failed:-1}" = 0 ]; then rm -rf "$dir"; else say "its files are kept in $dir"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

# set_prices V100 P100: dollars per GPU-hour, replaced by rename as a price feed would.
set_prices() {
  printf '{"v100": %s, "p100": %s}\n' "$1" "$2" >"$dir/prices.new"
  mv "$dir/prices.new" "$dir/prices.json"
  say "spot prices now: v100 $1 \$/h, p100 $2 \$/h"
}
# records TYPE: the journal's complete records of that type.
records() { [ -e "$journal" ] && grep "\"type\":\"$1\"" "$journal"; }
# gpus FIELD TYPE: reads records on stdin, prints the count of GPUs of TYPE in object FIELD, one line each.
gpus() { sed -E "s/.*\"$1\":\{([^}]*)\}.*/,\1/; s/.*,\"$2\":([0-9]+).*/\1/; t; s/.*/0/"; }
# value FIELD: reads one record on stdin, prints the number.
value() { sed -nE "s/.*\"$1\":(-?[0-9.]+([eE][-+]?[0-9]+)?).*/\1/p" | tail -n 1; }

say "starting a private Slurm cluster with 2 V100 and 2 P100 (emulated) in $dir"
"$cluster" up --dir "$dir/cluster" --nodes cpu:1x0,v100:1x2,p100:1x2 --plugin "$build/lib/spank_jabas.so" || exit 1
eval "$("$cluster" env --dir "$dir/cluster")"
export PATH="$build/bin:$PATH"

set_prices 4.00 0.20
cd "$dir" || exit 1
job=$(sbatch --parsable --jabas-gpus=v100:1-2,p100:1-2 --jabas-objective=balanced:0.3 --jabas-batch=64-512 \
  --jabas-prices="$dir/prices.json" --jabas-profile="$root/sbatch_templates/quickstart_profile.json" \
  --jabas-state="$dir/state" --output="$dir/job.out" "$root/sbatch_templates/fashion_mnist.sbatch" \
  --subset 30000 --metrics-out "$dir/metrics.jsonl" --ledger-out "$dir/ledger" \
  --device emulated --emulate "$root/sbatch_templates/quickstart_profile.json") || exit 1
say "submitted as job $job; its output follows"

shown=0 prices=1 deadline=$((SECONDS + 600)) quiet=0 state=
while [ "$SECONDS" -lt "$deadline" ]; do
  sleep 1
  quiet=$((quiet + 1))
  [ -n "$journal" ] || journal=$(find "$dir/state" -name journal.jsonl 2>/dev/null | head -n 1)
  lines=$(wc -l <"$dir/job.out" 2>/dev/null || echo 0)
  if [ "$lines" -gt "$shown" ]; then
    sed -n "$((shown + 1)),${lines}p" "$dir/job.out" | sed 's/^/    /'
    shown=$lines quiet=0
  fi
  # The market moves twice: when training has begun, and when the run has answered with a resize.
  if [ "$prices" = 1 ] && [ -n "$(records switched)" ]; then
    set_prices 0.20 4.00
    prices=2
  elif [ "$prices" = 2 ] && records switched | gpus after v100 | tail -n 1 | grep -qx 2; then
    set_prices 4.00 0.20
    prices=3
  fi
  state=$(squeue -h -j "$job" -o %T 2>/dev/null)
  [ -z "$state" ] && break
  if [ "$quiet" -ge 5 ]; then say "job $job: $state"; quiet=0; fi
done
[ -n "$state" ] && { say "job $job did not end within 600 s"; scancel "$job"; }

say "what was decided (jabasacct -j $job):"
jabasacct --state "$dir/state" -j "$job"
say "its member jobs (jabasacct -j $job --members):"
jabasacct --state "$dir/state" -j "$job" --members
epoch=$(records decision | grep -v '"action":"\(start\|keep\)"' | head -n 1 | value epoch)
say "why the set of GPUs changed for epoch ${epoch:-?} (jabasacct -j $job --why ${epoch:-?}):"
why=$(jabasacct --state "$dir/state" -j "$job" --why "${epoch:-1}") || why="failed: $why"
printf '%s\n' "$why"

failed=0
check() {  # check TEXT COMMAND…
  local text=$1
  shift
  if "$@"; then say "ok: $text"; else say "FAILED: $text"; failed=1; fi
}
# changed grew|shrank TYPE: a switch at a boundary before the last epoch, decided by the policy, with pause and reason.
changed() {
  local how=$1 type=$2 line before after number
  while read -r line; do
    before=$(gpus before "$type" <<<"$line") after=$(gpus after "$type" <<<"$line") number=$(value epoch <<<"$line")
    [ "$number" -gt 1 ] && [ "$number" -le "$epochs" ] && [ -n "$(value pause_s <<<"$line")" ] || continue
    case $how in
      grew) [ "$after" -gt "$before" ] && return 0 ;;
      shrank) [ "$after" -lt "$before" ] && return 0 ;;
    esac
  done < <(records switched)
  return 1
}
below() { awk -v a="${1:-nan}" -v b="$2" 'BEGIN { exit !(a != "nan" && a + 0 <= b + 0) }'; }

epochs=6
finished=$(records epoch | wc -l)
accuracy=$(records end | value test_accuracy)
steps=$(records end | value emulated_steps)
overruns=$(records end | value emulation_overruns)
check "the job completed ($(scontrol show job "$job" 2>/dev/null | grep -oE 'JobState=[A-Z]+' | head -n 1))" \
  grep -q 'JobState=COMPLETED' <(scontrol show job "$job" 2>/dev/null)
check "$finished of $epochs epochs" [ "$finished" = "$epochs" ]
for type in v100 p100; do
  check "$type: GPUs requested and taken in at an epoch boundary" changed grew "$type"
  check "$type: GPUs released at an epoch boundary" changed shrank "$type"
done
check "every decision has a reason and objective balanced" \
  [ "$(records decision | grep '"objective":"balanced' | grep -c '"reason":"[^"]')" = "$(records decision | wc -l)" ]
check "--why names a candidate that lost" grep -q '2×p100' <<<"$why"
check "the global batch grew inside an epoch ($(records batch | wc -l) changes)" [ -n "$(records batch)" ]
check "test accuracy ${accuracy:-unknown} >= 0.88" below 0.88 "${accuracy:-0}"
check "emulated steps slower than planned: ${overruns:-?} of ${steps:-?} (<= 5 %)" \
  below "$((${overruns:-1000000} * 20))" "${steps:-0}"
ledger=$(jabas-run check-ledger "$dir/ledger" 2>&1) && exact=yes || exact=no
check "every sample was trained exactly once per epoch ($(tail -n 1 <<<"$ledger"))" [ "$exact" = yes ]
check "no member job is left" [ -z "$(squeue -h -o %j | grep "^jabas-$job")" ]
say "training took $(records end | value duration_s) s and cost \$$(records end | value cost_usd) (emulated GPUs)"
exit "$failed"

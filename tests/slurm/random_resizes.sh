#!/bin/bash
# Prices jump at random while a run trains, so that it grows and shrinks; every sample counts exactly once per epoch.
# Then a skip and a double are planted in the ledger, and both are found.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/training.sh"
seed=${JABAS_TEST_SEED:-$(date +%s)}
RANDOM=$seed
echo "seed $seed (JABAS_TEST_SEED=$seed repeats it)"
cluster_up --nodes v100:1x2,p100:1x2 --plugin "$PLUGIN"

prices 5 0.1
train random --jabas-gpus=v100:0-2,p100:0-2 --jabas-prices="$WORK/prices.json" --jabas-objective=balanced \
  --jabas-batch=64-256 -- --epochs 8 --subset 9000 --similarity-target 0.3 --adapt-every 20 --ledger-out "$WORK/ledger"
wait_for 60 has_records switched 1
levels=(0.1 0.5 5)
seen=0
deadline=$((SECONDS + 200))
dear=v100
until job_ended "$JOB"; do
  ((SECONDS < deadline)) || fail "the run did not end: $(tail -n 3 "$WORK/random.out")"
  epochs=$(records epoch | wc -l)
  if ((epochs > seen)); then  # a new epoch began: the market moves, at least every second time to the other type
    seen=$epochs
    if [[ $dear == v100 ]]; then dear=p100; prices "${levels[RANDOM % 2]}" 5; else dear=v100; prices 5 "${levels[RANDOM % 2]}"; fi
  fi
  sleep 0.2
done
assert_completed "the run"
resizes=$(($(records switched | wc -l) - 1))
echo "$resizes resizes"
((resizes >= 2)) || fail "the run should have been resized at least twice"
jabas-run check-ledger "$WORK/ledger"

step "a planted skip and a planted double are found"
cp -r "$WORK/ledger" "$WORK/planted"
file=$(grep -lm 1 '"samples":\[[0-9]*,[0-9]' "$WORK"/planted/*.jsonl)
file=${file%%$'\n'*}
line=$(grep -nm 1 '"samples":\[[0-9]*,[0-9]' "$file")
line=${line%%:*}
read -r first second < <(sed -n "${line}p" "$file" | sed -E 's/.*"samples":\[([0-9]+),([0-9]+).*/\1 \2/')
sed -i -E "${line}s/\"samples\":\[$first,/\"samples\":[$second,/" "$file"  # $first is skipped, $second read twice
status=0
jabas-run check-ledger "$WORK/planted" >"$WORK/planted.txt" || status=$?
assert_equal 1 "$status" "exit code of check-ledger"
assert_contains "$WORK/planted.txt" ": sample $first: missing"
assert_contains "$WORK/planted.txt" ": sample $second: read 2 times"
assert_equal 2 "$(grep -c ": sample " "$WORK/planted.txt")" "problems found by check-ledger"

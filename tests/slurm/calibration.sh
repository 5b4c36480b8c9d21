#!/bin/bash
# A run that knows nothing of its GPUs: the table of TFLOP/s says that V100s are the faster ones, while the emulated P100s
# are three times as fast. By its third epoch it trains on a set that is as good as the choice made with the true profile.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/training.sh"
cluster_up --nodes v100:1x2,p100:1x2 --plugin "$PLUGIN"

# type NAME SECONDS_PER_SAMPLE: local batches 8 to 256, up to 2 streams that bring a quarter more.
type() {
  local b v comma=
  printf '"%s": {"gpus_per_node": 2, "max_streams": {"256": 2}, "points": [' "$1"
  for b in 8 16 32 64 128 256; do
    for v in 1 2; do
      awk -v b=$b -v v=$v -v s="$2" -v comma="$comma" 'BEGIN {
        pass = s * (b + 8) * (v == 1 ? 1 : 1.6)
        printf "%s{\"local_batch\": %d, \"streams\": %d, \"forward_s\": %.6f, \"backward_s\": %.6f}", comma, b, v, pass / 3, pass * 2 / 3 }'
      comma=,
    done
  done
  printf ']}'
}
printf '{"jabas_profile": 1, "types": {%s, %s}}' "$(type v100 0.003)" "$(type p100 0.001)" >"$WORK/true.json"
printf '{"v100": 1, "p100": 1.4}\n' >"$WORK/prices.json"

# Not by `train`, which gives a profile.
cat >"$WORK/blind.sh" <<END
#!/bin/sh
exec jabas-run train --device emulated --emulate $WORK/true.json --model mlp --epochs 4 --subset 5000 \\
  --similarity-target 0.3 --adapt-every 20
END
JOB=$(sbatch --parsable -o "$WORK/blind.out" --jabas-state="$STATE" --jabas-gpus=v100:0-2,p100:0-2 \
  --jabas-prices="$WORK/prices.json" --jabas-objective=balanced --jabas-batch=128-256 "$WORK/blind.sh")
wait_for 150 job_ended "$JOB"
assert_completed "the run"

step "both types were measured, once each"
assert_equal 2 "$(records calibration | wc -l)" "calibrations"
for type in v100 p100; do grep -q "\"gpu_type\":\"$type\"" <(records calibration) || fail "$type was not measured"; done
grep -q 'p100: its speed is not known: 1 GPU is asked for' <(records decision | head -n 1) || fail "no P100 was asked for"

step "the set of epoch 3, by the true profile"
field() { sed -E "s/.*\"$1\":(\{[^}]*\}|[^,}]*).*/\1/"; }
count() { sed -nE "s/.*\"$2\":([0-9]+).*/\1/p" <<<"$1" | grep . || echo 0; }
# state HELD OBJECTIVE SUPPLY: the decision for epoch 3 with the true profile
state() {
  printf '{"next_epoch": 3, "epochs": 4, "epoch_samples": 5000, "wanted_batch": %s, "adaptive": true, "adapt_every": 20, "objective": "%s", "held": %s,
    "batch": {"batch_min": 128, "batch_max": 256, "current_local_batch": 32}, "supply": %s, "profile": %s}' \
    "$(field wanted_batch <<<"$decision")" "$2" "$1" "$3" "$(cat "$WORK/true.json")"
}
# supply V100S P100S HELD least: at most so many; at least as many as well if `least` is given
supply() {
  local least=${4:-0}
  printf '{"v100": {"min": %d, "max": %d, "free": %d, "price_per_h": 1}, "p100": {"min": %d, "max": %d, "free": %d, "price_per_h": 1.4}}' \
    $((least ? $1 : 0)) "$1" $(($1 - $(count "$3" v100))) $((least ? $2 : 0)) "$2" $(($2 - $(count "$3" p100)))
}
decide() { jabas-sim decide --json --state <(state "$@"); }
epoch_s() {  # SET: predicted seconds of epoch 3
  decide "$1" paper "$(supply "$(count "$1" v100)" "$(count "$1" p100)" "$1" 1)" | tr -d ' \n' |
    sed -E 's/.*"chosen":\{"gpus":\{[^}]*\},"next_epoch_s":([^,}]*).*/\1/'
}
decision=$(records decision | grep '"epoch":3,' | tail -n 1)
held=$(field before <<<"$decision")
chosen=$(field after <<<"$decision")
best=$(decide "$held" balanced "$(supply 2 2 "$held")" | tr -d ' \n' | field after)
echo "the run has $held and chose $chosen; with the true profile $best"
first=$(records decision | head -n 1 | field after)
printf 'seconds of the epoch: first set %s: %s, chosen: %s, true choice: %s\n' "$first" "$(epoch_s "$first")" \
  "$(epoch_s "$chosen")" "$(epoch_s "$best")"
awk -v a="$(epoch_s "$chosen")" -v b="$(epoch_s "$best")" 'BEGIN { exit !(a > 0 && b > 0 && a <= 1.05 * b) }' ||
  fail "the chosen set is more than 5 % slower"
awk -v a="$(epoch_s "$first")" -v b="$(epoch_s "$best")" 'BEGIN { exit !(a > 1.05 * b) }' ||
  fail "this test shows nothing: the first guess was good already"

#!/bin/bash
# A convolutional network with BatchNorm and a language model train on a changing set of GPUs (emulated types) to a stated
# accuracy and perplexity; every sample counts exactly once per epoch. The cnn does so in quickstart_run.sh.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/training.sh"
fashion=/usr/share/datasets/fashion-mnist
[[ -d $fashion ]] || {
  echo "SKIPPED: the package dataset-fashion-mnist is not installed"
  exit 77
}
cluster_up --nodes v100:1x2,p100:1x2 --plugin "$PLUGIN"

# first_of FILE COUNT BYTES HEADER: the first COUNT items of an IDX file, of BYTES each.
first_of() {
  local header=$4
  {
    gzip -dcf "$fashion/$1"* | head -c 4
    printf "$(printf '\\x%02x' $(($2 >> 24 & 255)) $(($2 >> 16 & 255)) $(($2 >> 8 & 255)) $(($2 & 255)))"
    gzip -dcf "$fashion/$1"* | tail -c +9 | head -c $((header - 8 + $2 * $3))
  } >"$WORK/images/$1" 2>/dev/null || true  # head closes the pipe early
}

# elastic NAME MODEL_OPTION…: trains while the prices turn over; the set of GPUs has to follow.
elastic() {
  local name=$1
  shift
  prices 0.1 5
  train "$name" --jabas-gpus=v100:0-2,p100:0-2 --jabas-prices="$WORK/prices.json" --jabas-objective=balanced \
    --jabas-batch=32-64 -- "$@" --similarity-target 0.3 --adapt-every 20 \
    --ledger-out "$WORK/$name-ledger" --metrics-out "$WORK/$name.jsonl"
  wait_for 120 has_records epoch 1
  prices 5 0.1
  wait_for 200 job_ended "$JOB"
  assert_completed "$name"
  (($(records switched | wc -l) >= 2)) || fail "$name: the set of GPUs did not change"
  records switched | tail -n 1 | grep -q '"after":{[^}]*"p100"' || fail "$name: the last set has no p100"
  jabas-run check-ledger "$WORK/$name-ledger"
}
last() { grep "\"$2\"" "$WORK/$1.jsonl" | tail -n 1 | sed -nE "s/.*\"$2\":([0-9.e+-]+).*/\1/p"; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 >= b + 0) }'; }

step "resnet18"
mkdir "$WORK/images"
first_of train-images-idx3-ubyte 2000 784 16
first_of train-labels-idx1-ubyte 2000 1 8
first_of t10k-images-idx3-ubyte 500 784 16
first_of t10k-labels-idx1-ubyte 500 1 8
elastic resnet18 --model resnet18 --width 8 --dataset fashion-mnist --data-dir "$WORK/images" --epochs 6 --lr 0.1 --lr-schedule cosine
accuracy=$(last resnet18 test_accuracy)
echo "resnet18: test accuracy $accuracy"
at_least "$accuracy" 0.70 || fail "resnet18: test accuracy $accuracy, expected at least 0.70"

step "gpt"
mkdir "$WORK/text"
cp /usr/share/common-licenses/GPL-3 /usr/share/common-licenses/GFDL-1.3 "$WORK/text"
elastic gpt --model gpt --layers 1 --width 32 --heads 2 --dropout 0 --sequence-length 32 --data-dir "$WORK/text" \
  --epochs 16 --optimizer adamw --lr 0.005 --lr-schedule cosine --warmup-epochs 1 --emulate-scale 0.5
perplexity=$(awk -v l="$(last gpt test_loss)" 'BEGIN { print exp(l) }')
echo "gpt: perplexity per byte $perplexity"
at_least 14 "$perplexity" || fail "gpt: perplexity per byte $perplexity, expected at most 14 (256 before training)"

#!/usr/bin/env bash
# Feeds broken profiles, states and tables to the allocator under ASan and UBSan.
#   tests/fuzz/run.sh [COUNT [SEED]]     default: 100000 inputs, a random seed, which is printed
# Builds into build-asan; needs the packages of tests/run.sh.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cmake -S "$root" -B "$root/build-asan" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O1 \
  -DJABAS_SANITIZE=address -DJABAS_RUNNER=OFF >/dev/null
ninja -C "$root/build-asan" -j2 jabas-fuzz
# An allocation that would not fit is an error like any other, not an abort.
export JABAS_SOURCE_DIR=$root ASAN_OPTIONS=abort_on_error=1:max_allocation_size_mb=4096:detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
exec "$root/build-asan/bin/jabas-fuzz" "${1:-100000}" ${2:+"$2"}

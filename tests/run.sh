#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test: units, ranks, Slurm.
# As root, or with sudo, where packages are missing. Arguments go to ctest, e.g. `tests/run.sh -L unit`.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../sbatch_templates/setup.sh
. "$root/sbatch_templates/setup.sh"

install_packages || exit 1
build_targets || exit 1
say "testing"
cd "$root/build" || exit 1
exec ctest --output-on-failure --no-tests=error -j2 "$@"

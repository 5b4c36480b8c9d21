#!/usr/bin/env bash
# From a bare Debian 12 to a finished run with its decisions shown: installs packages, builds, starts a private Slurm
# cluster with two (emulated) GPU types, trains a CNN on Fashion-MNIST, shows what was decided and why, stops the cluster.
# As root, or with sudo, where packages are missing. A second run neither installs nor builds anything.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=setup.sh
. "$root/sbatch_templates/setup.sh"

install_packages || exit 1
build_targets jabas-run jabasd jabas-supervise jabasacct jabas-sim spank_jabas || exit 1
exec "$root/sbatch_templates/quickstart_run.sh" "$root/build"

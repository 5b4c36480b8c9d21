#!/usr/bin/env bash
# The daemon's Slurm client against a real slurmctld: submit, list, supply, cancel, refusals.
. "$(dirname "$0")/lib.sh"

step "a cluster with two V100"
cluster_up --nodes v100:1x2

step "the client's checks"
"$BUILD_DIR/bin/jabas_slurm_client_checks" --color_output=no

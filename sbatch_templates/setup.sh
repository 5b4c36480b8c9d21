# Installs the packages and builds. Sourced by quickstart.sh and tests/run.sh; defines functions only.
# Needs: bash, the repository root in $root. A line at least every 10 s says what is going on.

packages=(g++ make cmake ninja-build ccache pkg-config
  libslurm-dev slurmctld slurmd slurm-client munge
  libtorch-dev libgloo-dev libopenblas0-pthread
  libzmq3-dev cppzmq-dev libcurl4-openssl-dev zlib1g-dev libjpeg-dev libpng-dev
  nlohmann-json3-dev libcli11-dev libspdlog-dev libboost-test-dev
  dataset-fashion-mnist)

say() { printf '[%s] %s\n' "$(date +%H:%M:%S)" "$*"; }

# with_progress WHAT LOG COMMAND… : runs COMMAND with its output in LOG, shows the log's last line every 5 s.
with_progress() {
  local what=$1 log=$2 pid status ticks=0
  shift 2
  say "$what"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    ticks=$((ticks + 1))
    if [ $((ticks % 5)) = 0 ]; then
      say "$what ($ticks s): $(tail -c 2000 "$log" | tr '\r' '\n' | grep -v '^[[:space:]]*$' | tail -n 1 | cut -c1-100)"
    fi
  done
  wait "$pid"
  status=$?
  if [ "$status" != 0 ]; then
    say "$what failed (exit $status); the last lines of $log:"
    tail -n 40 "$log"
  fi
  return "$status"
}

missing_packages() {
  local name
  for name in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
  done
}

# The packages' own system services are not started: a private cluster needs none of them.
apt_install() {
  local policy=/usr/sbin/policy-rc.d status
  export DEBIAN_FRONTEND=noninteractive
  apt-get update || return
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\n# Made by the JABAS set-up; removed when it is done.\nexit 101\n' >"$policy"
    chmod +x "$policy"
    apt-get install -y --no-install-recommends "$@"
    status=$?
    rm -f "$policy"
    return "$status"
  fi
  apt-get install -y --no-install-recommends "$@"
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  if [ ${#missing[@]} = 0 ]; then
    say "packages: all ${#packages[@]} are installed"
    return 0
  fi
  if [ "$(id -u)" != 0 ]; then
    say "packages: ${#missing[@]} are missing and only root can install them: run as root, or with sudo: apt-get install ${missing[*]}"
    return 1
  fi
  with_progress "packages: installing ${#missing[@]}" "$(mktemp "${TMPDIR:-/tmp}/jabas-apt.XXXXXX.log")" \
    apt_install "${missing[@]}"
}

# build_targets [TARGET…]: configures $root/build when needed and builds the targets (default: all). A second call
# with nothing changed builds nothing.
build_targets() {
  local log=$root/build/build.log target arguments=()
  mkdir -p "$root/build"
  if [ ! -e "$root/build/CMakeCache.txt" ]; then
    with_progress "configuring" "$log" cmake -S "$root" -B "$root/build" -G Ninja || return
  fi
  for target in "$@"; do arguments+=(--target "$target"); done
  with_progress "building" "$log" cmake --build "$root/build" --parallel 2 "${arguments[@]}"
}

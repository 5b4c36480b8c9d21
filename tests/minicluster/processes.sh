# The processes of a private cluster: started in the foreground mode of each daemon, known by pid and start time.
# Sourced by minicluster. DIR/processes has one line "NAME PID STARTTIME" per daemon, in the order of starting.

# The start time tells a process from a later one with the same number.
start_time() {  # PID
  local line fields
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  read -r -a fields <<<"${line##*) }"
  [[ ${fields[0]} != Z ]] && echo "${fields[19]}"
}

alive() {  # PID STARTTIME
  [[ $(start_time "$1") == "$2" ]]
}

# start NAME COMMAND…: in a session of its own, output to DIR/log/NAME.out.
start() {
  local name=$1 began
  shift
  setsid "$@" </dev/null >"$DIR/log/$name.out" 2>&1 &
  began=$(start_time $!) || began=0
  echo "$name $! $began" >>"$DIR/processes"
  disown
}

# Names of recorded daemons that are not running.
dead_daemons() {
  local name pid began
  while read -r name pid began; do
    alive "$pid" "$began" || echo "$name"
  done <"$DIR/processes"
}

# Pids of this cluster's slurmstepd and of the processes of its jobs.
job_processes() {
  local path pid
  for path in /proc/[0-9]*/comm; do
    pid=${path#/proc/} pid=${pid%/comm}
    if [[ $(cat "$path" 2>/dev/null) == slurmstepd ]] &&
      ls -l "/proc/$pid/fd" 2>/dev/null | grep -qF -- "-> $DIR/"; then
      echo "$pid"
    elif grep -qzxF -- "SLURM_CONF=$DIR/slurm.conf" "/proc/$pid/environ" 2>/dev/null &&
      grep -qz "^SLURMD_NODENAME=" "/proc/$pid/environ" 2>/dev/null; then
      echo "$pid"
    fi
  done
}

# wait_until SECONDS COMMAND…: polls; false when the time is over.
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

cancel_jobs() {
  local jobs
  jobs=$(timeout 10 squeue -h -o %A) || return 1
  [[ $jobs ]] || return 0
  say "cancelling jobs" $jobs
  # shellcheck disable=SC2086  # one word per job
  timeout 10 scancel $jobs
  wait_until 20 no_jobs
}
no_jobs() { [[ -z $(timeout 10 squeue -h -o %A 2>&1) ]]; }

# stop_daemon NAME PID STARTTIME: TERM, after 10 s KILL.
stop_daemon() {
  alive "$2" "$3" || return 0
  kill -TERM "$2" 2>/dev/null
  wait_until 10 not_alive "$2" "$3" && return 0
  say "$1 (pid $2) ignores TERM, sending KILL"
  kill -KILL "$2" 2>/dev/null
  wait_until 5 not_alive "$2" "$3"
}
not_alive() { ! alive "$@"; }

# Ends everything of the cluster in DIR. 0: nothing is left.
stop_all() {
  local lines=() i left
  [[ -e $DIR/processes ]] || return 0
  mapfile -t lines <"$DIR/processes"
  if ! dead_daemons | grep -q '^\(slurmctld\|munged\)$' && ((${#lines[@]} > 1)); then
    cancel_jobs || say "some jobs did not end in time"
  fi
  for ((i = ${#lines[@]} - 1; i >= 0; i--)); do
    # shellcheck disable=SC2086  # NAME PID STARTTIME
    stop_daemon ${lines[i]} || say "still running: ${lines[i]}"
  done
  left=$(job_processes)
  if [[ $left ]]; then
    say "ending processes that jobs left behind:" $left
    # shellcheck disable=SC2086  # one word per pid
    kill -KILL $left 2>/dev/null
    wait_until 5 no_job_processes
  fi
  left=$(job_processes)
  for i in "${lines[@]}"; do
    read -r _ pid began <<<"$i"
    if alive "$pid" "$began"; then left+=" $pid"; fi
  done
  if [[ $left ]]; then
    say "these processes are still there:" $left
    return 1
  fi
  rm -f "$DIR/processes"
}
no_job_processes() { [[ -z $(job_processes) ]]; }

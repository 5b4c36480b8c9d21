# The files of a private cluster: slurm.conf, gres.conf, cgroup.conf, plugstack.conf, munge key. Sourced by minicluster.
#
# Node list: --nodes TYPE:NODESxGPUS[,…] becomes NODES, an array of "NAME TYPE GPUS".

# parse_nodes LIST: sets NODES, or fails naming the part that is wrong.
parse_nodes() {
  local part type count gpus i seen=,
  local parts=()
  NODES=()
  IFS=, read -r -a parts <<<"$1"
  for part in "${parts[@]}"; do
    [[ $part =~ ^([A-Za-z][A-Za-z0-9_]*):([0-9]{1,3})x([0-9]{1,3})$ ]] ||
      fail "--nodes: '$part' is not TYPE:NODESxGPUS, such as v100:2x2 or cpu:1x0"
    type=${BASH_REMATCH[1]} count=$((10#${BASH_REMATCH[2]})) gpus=$((10#${BASH_REMATCH[3]}))
    [[ $count -ge 1 ]] || fail "--nodes: '$part' has no node"
    [[ $seen != *,$type,* ]] || fail "--nodes: type $type is given twice"
    seen+=$type,
    for ((i = 1; i <= count; i++)); do NODES+=("$type-$i $type $gpus"); done
  done
  [[ ${#NODES[@]} -ge 1 ]] || fail "--nodes: empty; accepted is TYPE:NODESxGPUS[,...]"
}

# The kernel cuts nothing: a socket path above 107 bytes cannot be bound, and Slurm reports that far from its cause.
check_socket_paths() {
  local node longest="$DIR/munge/socket.lock" path
  for node in "${NODES[@]}"; do
    node=${node%% *}
    path="$DIR/spool/$node/${node}_99999999.4294967291"
    ((${#path} <= ${#longest})) || longest=$path
  done
  ((${#longest} <= 107)) || fail "--dir $DIR is too long: the Unix socket $longest would have" \
    "${#longest} characters and at most 107 are possible; take a directory shorter by $((${#longest} - 107))"
}

# slurm_at_least YEAR MONTH
slurm_at_least() {
  local version
  version=$(slurmctld -V) || fail "slurmctld -V does not run"
  [[ $version =~ ([0-9]+)\.([0-9]+)\. ]] || fail "slurmctld -V prints '$version', which has no version"
  ((10#${BASH_REMATCH[1]} * 100 + 10#${BASH_REMATCH[2]} >= 10#$1 * 100 + 10#$2))
}

node_line() {  # NAME TYPE GPUS PORT
  local cpus=$CPUS gres=
  # Enough for a lead beside members that take (CPUs-1)/GPUs each.
  ((cpus)) || cpus=$(($3 * 4 > 8 ? $3 * 4 : 8))
  (($3 == 0)) || gres=" Gres=gpu:$2:$3"
  echo "NodeName=$1 NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$4 CPUs=$cpus RealMemory=64000" \
    "Feature=$2 State=UNKNOWN$gres"
}

# write_config FIRST_PORT: ports FIRST_PORT (slurmctld) and the ones behind it (one per node).
write_config() {
  local first_port=$1 port=$1 entry name type gpus i names= user
  user=$(id -un)
  HOST=$(uname -n)
  HOST=${HOST%%.*}
  mkdir -p "$DIR"/{gres,log,spool,state}
  {
    cat <<END
ClusterName=$CLUSTER
# Addresses, not names: a bare root resolves nothing.
SlurmctldHost=$HOST(127.0.0.1)
SlurmctldPort=$first_port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/socket
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool/%n
SlurmctldPidFile=$DIR/state/slurmctld.pid
SlurmdPidFile=$DIR/spool/%n.pid
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdLogFile=$DIR/log/slurmd.%n.log
PlugStackConfig=$DIR/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
# Several nodes on one machine: what slurm.conf says counts, not what is there.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
FirstJobId=$FIRST_JOB
MinJobAge=300
InactiveLimit=0
KillWait=2
ReturnToService=2
SlurmctldTimeout=60
SlurmdTimeout=60
MessageTimeout=20
END
    for entry in "${NODES[@]}"; do
      read -r name type gpus <<<"$entry"
      ((gpus == 0)) || { echo "GresTypes=gpu"; break; }
    done
    for entry in "${NODES[@]}"; do
      read -r name type gpus <<<"$entry"
      port=$((port + 1))
      node_line "$name" "$type" "$gpus" "$port"
      names+=${names:+,}$name
      mkdir -p "$DIR/spool/$name"
    done
    echo "PartitionName=all Nodes=$names Default=YES DefaultTime=INFINITE MaxTime=INFINITE State=UP"
  } >"$DIR/slurm.conf"

  {
    echo "AutoDetect=off"
    for entry in "${NODES[@]}"; do
      read -r name type gpus <<<"$entry"
      for ((i = 0; i < gpus; i++)); do
        : >"$DIR/gres/$name.gpu$i"
        echo "NodeName=$name Name=gpu Type=$type File=$DIR/gres/$name.gpu$i"
      done
    done
  } >"$DIR/gres.conf"

  # slurmd looks for a cgroup file system even under proctrack/linuxproc, and a bare root has none. Nothing uses it:
  # newer releases can be told so; older ones do not look when the version is given.
  if slurm_at_least 23 11; then
    echo "CgroupPlugin=disabled"
  else
    echo "CgroupPlugin=cgroup/v1"
  fi >"$DIR/cgroup.conf"

  : >"$DIR/plugstack.conf"
  if [[ $PLUGIN ]]; then
    echo "optional $PLUGIN libexec=$LIBEXEC" >"$DIR/plugstack.conf"
  fi
}

write_munge_key() {
  mkdir -p "$DIR/munge"
  chmod 0755 "$DIR/munge"
  (umask 077 && head -c 1024 /dev/urandom >"$DIR/munge/key.new" && mv -f "$DIR/munge/key.new" "$DIR/munge/key") ||
    fail "cannot write $DIR/munge/key"
}

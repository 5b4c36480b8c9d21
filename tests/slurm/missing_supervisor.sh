#!/bin/bash
# Without its programs the plugin leaves the job alone: the script runs, and one line in its output says what is missing.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mkdir "$WORK/libexec"
cluster_up --nodes v100:1x2 --plugin "$PLUGIN" --libexec "$WORK/libexec"
cd "$WORK"
printf '#!/bin/sh\necho "script ran, run dir ${JABAS_RUN_DIR-none}"\nexit 4\n' >job.sh
supervisor=$WORK/libexec/jabas-supervise

# runs_without LINE
runs_without() {
  local job
  rm -f job.out
  job=$(sbatch --parsable -o job.out --jabas-gpus=v100:0-2 --jabas-state="$WORK/state" job.sh)
  wait_for 30 job_ended "$job"
  assert_equal 4:0 "$(job_field "$job" ExitCode)" ExitCode
  printf '%s\n' "$1" "script ran, run dir none" >expected
  # Slurm puts its program's name in front of a plugin's line.
  sed 's/^slurmstepd[^ ]*: //' job.out | diff -u expected - || fail "output of the job"
}

step "missing"
runs_without "jabas: $supervisor cannot be executed: No such file or directory: the script runs without JABAS"

step "not executable"
touch "$supervisor"
runs_without "jabas: $supervisor cannot be executed: Permission denied: the script runs without JABAS"

step "not a program"
printf '\177ELFgarbage' >"$supervisor"
chmod +x "$supervisor"
runs_without "jabas: $supervisor cannot be executed: Exec format error: the script runs without JABAS"

step "no libexec= in plugstack.conf"
sed 's/ libexec=.*//' "$WORK/cluster/plugstack.conf" >new.conf
mv new.conf "$WORK/cluster/plugstack.conf"
runs_without "jabas: plugstack.conf gives no absolute libexec= directory: the script runs without JABAS"

step "the supervisor is there, the daemon is not"
rm "$supervisor"
cp "$BUILD_DIR/bin/jabas-supervise" "$supervisor"
echo "optional $PLUGIN libexec=$WORK/libexec" >"$WORK/cluster/plugstack.conf"
rm job.out
# A script that ends at once may be over before the daemon is tried.
cat >patient.sh <<END
#!/bin/sh
until grep -q jabas-supervise "$WORK/job.out"; do sleep 0.1; done
. "$WORK/job.sh"
END
job=$(sbatch --parsable -o job.out --jabas-gpus=v100:0-2 --jabas-state="$WORK/state" patient.sh)
wait_for 30 job_ended "$job"
assert_equal 4:0 "$(job_field "$job" ExitCode)" ExitCode
assert_contains job.out "script ran, run dir $WORK/state/"
assert_contains job.out "jabas-supervise: $WORK/libexec/jabasd cannot be executed: No such file or directory; \
the script goes on without JABAS"

#!/usr/bin/env bash
# The small programs and the plugin link neither torch nor other heavy libraries; the supervisor is static; the plugin
# exports only what Slurm looks up.
set -uo pipefail
build=$1
failed=0
complain() { printf '%s\n' "$1"; failed=1; }
for name in bin/jabasd bin/jabasacct bin/jabas-sim lib/spank_jabas.so; do
  [ -e "$build/$name" ] || { complain "$name: not built"; continue; }
  hit=$(ldd "$build/$name" 2>/dev/null | grep -oE 'lib(torch|c10|gloo|cuda|nccl)[^ ]*' | head -n 1)
  [ -n "$hit" ] && complain "$name links $hit"
done
hit=$(ldd "$build/lib/spank_jabas.so" | grep -oE 'lib(slurm|stdc\+\+|gcc_s|zmq|curl)[^ ]*' | head -n 1)
[ -n "$hit" ] && complain "spank_jabas.so links $hit"
linked=$(ldd "$build/bin/jabas-supervise" 2>&1)  # fails for a static program
case $linked in
  *'not a dynamic executable'* | *'statically linked'*) ;;
  *) complain "jabas-supervise is not static: $linked" ;;
esac
exports=$(nm -D --defined-only "$build/lib/spank_jabas.so" | awk '{print $3}' |
  grep -vE '^(plugin_(name|type|version)|spank_plugin_version|slurm_spank_[a-z_]+)$' | head -n 3 | tr '\n' ' ')
[ -n "$exports" ] && complain "spank_jabas.so exports more than its entry points: $exports"
[ "$failed" = 0 ] && echo "linkage: ok"
exit "$failed"

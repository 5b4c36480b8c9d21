#!/usr/bin/env bash
# Checks who includes whom, who owns which third-party header, and file sizes (docs/architecture.md "Folders").
# Prints one line per violation; exit 1 if there is any.
set -uo pipefail
cd "$1" || exit 2
violations=0
complain() { printf '%s\n' "$1"; violations=$((violations + 1)); }

sources() { find "$@" -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) 2>/dev/null | sort; }

# forbid FOLDER REGEX WHY [ALLOWED FILES…]
forbid() {
  local folder=$1 regex=$2 why=$3 file hit allowed
  shift 3
  while read -r file; do
    for allowed in "$@"; do [ "$file" = "$allowed" ] && continue 2; done
    hit=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($regex)" "$file" | head -n 1)
    [ -n "$hit" ] && complain "$file:$hit: $why"
  done < <(sources "$folder")
}

torch='torch/|ATen/|c10/'
forbid allocator "$torch|slurm/|zmq|curl/|gloo/|nccl|hwloc|sys/socket|elastic_runner/|spank_plugin/" \
  "allocator is pure: no torch, Slurm, sockets or other folders"
forbid spank_plugin "$torch|gloo/|nccl|elastic_runner/" "spank_plugin never includes torch or elastic_runner"
forbid elastic_runner "spank_plugin/|slurm/|curl/" "elastic_runner never includes spank_plugin, Slurm or curl"
forbid spank_plugin 'slurm/' "spank.h has one owner" spank_plugin/spank_jabas.cpp
forbid spank_plugin 'curl/' "curl has one owner" spank_plugin/jabasd/http_client.cpp
forbid spank_plugin 'zmq' "zmq has one owner in the daemon" spank_plugin/jabasd/control_server.cpp
forbid elastic_runner 'zmq' "zmq has one owner in the runner" elastic_runner/zmq_transport.cpp
forbid elastic_runner 'gloo/' "gloo has one owner" elastic_runner/gloo_communicator.cpp
forbid elastic_runner 'jpeglib|jerror' "libjpeg has one owner" elastic_runner/jpeg_codec.cpp
forbid elastic_runner 'png\.h' "libpng has one owner" elastic_runner/png_codec.cpp

for folder in allocator spank_plugin elastic_runner; do
  while read -r file; do
    grep -nE '#[[:space:]]*include[[:space:]]*<nlohmann' "$file" >/dev/null && complain "$file: JSON in .cpp files only"
    [ "$(grep -cE '#pragma once' "$file")" = 1 ] || complain "$file: #pragma once is missing"
  done < <(sources "$folder" | grep '\.h$')
done

while read -r file; do
  lines=$(wc -l <"$file")
  [ "$lines" -gt 600 ] && complain "$file: $lines lines; the limit is 600"
done < <(sources allocator spank_plugin elastic_runner tests)

for name in * .[!.]*; do
  case $name in
    CMakeLists.txt|CMakePresets.json|spank_plugin|elastic_runner|allocator|sbatch_templates|tests|docs) ;;
    README.md|LICENSE|NEWS.md|.*|build*) ;;
    *) complain "$name: not one of the top-level entries" ;;
  esac
done

[ "$violations" = 0 ] && echo "layout: ok"
[ "$violations" = 0 ]

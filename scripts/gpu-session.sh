#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu-session.sh [-o FOLDER] [--binary SMTWIN] [--effort quick|full] [--max-seconds N]
#                [--peer KERNELS.py] [--skip-sanitizer] [--skip-build]
# One visit to a GPU: builds (or takes a built binary), checks every variant against float64, runs
# compute-sanitizer over a small run where it is installed, probes and times everything, times a
# Triton peer where its kernels are given, fits constants and scores them on shapes held out.
# Everything lands in FOLDER (default gpu-session): run files, reports, logs; the last lines are the
# tables worth reading (SMTWIN_SESSION_LINES of them, 120). Steps that fail are counted and do not
# stop the ones after them.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

out=gpu-session
binary=
effort=full
time_box=()
peer=
sanitize=1
build=1
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    --binary) binary=$2; build=0; shift ;;
    --effort) effort=$2; shift ;;
    --max-seconds) time_box=(--max-seconds "$2"); shift ;;
    --peer) peer=$2; shift ;;
    --skip-sanitizer) sanitize=0 ;;
    --skip-build) build=0 ;;
    *) echo "error: unknown argument $1; see the head of $0" >&2; exit 2 ;;
  esac
  shift
done
mkdir -p "$out"
out=$(cd "$out" && pwd)

if [ $build = 1 ]; then
  cmake -S "$root" --preset gpu -DSMTWIN_TESTS=OFF -DSMTWIN_BENCHMARKS=OFF </dev/null &&
    cmake --build "$root/build-gpu" --parallel "$(nproc)" --target smtwin_cli </dev/null || exit 1
fi
smtwin=${binary:-$root/build-gpu/bin/smtwin}
export SMTWIN_DATA=${SMTWIN_DATA:-$root/data}
[ -x "$smtwin" ] || { echo "error: $smtwin: no such program; --binary names one" >&2; exit 2; }

failed=()
started=$(date +%s)
step() { # NAME SECONDS ACCEPTED-EXIT-CODES COMMAND...: stdout to FOLDER/NAME.txt
  local name=$1 limit=$2 accepted=" $3 " code
  shift 3
  timeout "$limit" "$@" >"$out/$name.txt" 2>"$out/$name.log" </dev/null
  code=$?
  echo "$(($(date +%s) - started)) s  $name: exit $code"
  [[ $accepted == *" $code "* ]] && return 0
  failed+=("$name")
  tail -n 5 "$out/$name.log"
  return $code
}

# Exit code 1: the run is fine, predictions are outside their tolerance; the report says where.
step check 120 "0" "$smtwin" validate --device 0 --effort check
[ $? -eq 3 ] && exit 3 # no GPU, or one that no longer answers
sanitizer=$(command -v compute-sanitizer || true)
if [ $sanitize = 1 ] && [ -n "$sanitizer" ]; then
  for tool in memcheck racecheck; do
    # 1: the step above has said what differs; 9 is the sanitizer's.
    step "$tool" 240 "0 1" "$sanitizer" --tool "$tool" --error-exitcode 9 \
      "$smtwin" validate --device 0 --effort check --max-seconds 60
    grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "$out/$tool.txt" "$out/$tool.log" -h
  done
fi
step validate 360 "0 1" "$smtwin" validate --device 0 --effort "$effort" "${time_box[@]}" \
  -o "$out/run.json"
runs=("$out/run.json")
if [ -n "$peer" ]; then
  step peer 240 "0" python3 "$root/scripts/time-triton-peer.py" "$peer" -o "$out/peer.json" \
    --gpu "$(sed -n 's/.*"gpu": {"name":"\([^"]*\)".*/\1/p' "$out/run.json")"
  [ -s "$out/peer.json" ] && runs+=("$out/peer.json")
fi
step calibrate 120 "0" "$smtwin" calibrate --run "${runs[@]}" --force -o "$out/profile.json"
step score 60 "0 1" "$smtwin" validate --run "${runs[@]}" --calibrate-share 0.25

sed -n '1,/cold L2/p' "$out/score.txt" | head -n 40
sed -n '/cold L2/,$p' "$out/score.txt" | head -n "${SMTWIN_SESSION_LINES:-120}"
echo "results in $out; steps that failed: ${failed[*]:-none}"
[ ${#failed[@]} -eq 0 ]

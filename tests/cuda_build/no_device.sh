#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# no_device.sh SMTWIN: a program built with CUDA on a machine without a GPU (a hidden one is none).
# Verbs that need one say so in one line and exit 3; the others work as ever.
set -euo pipefail
program=$1
export CUDA_VISIBLE_DEVICES=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
refuses() { # ARGUMENTS...
  local code=0
  "$program" "$@" >"$work/out" 2>"$work/err" || code=$?
  if [ $code -ne 3 ] || [ -s "$work/out" ] || [ "$(wc -l <"$work/err")" -ne 1 ] ||
    ! grep -q '^error: .*no GPU' "$work/err"; then
    echo "error: smtwin $*: exit $code; expected 3 and one line that says there is no GPU:"
    cat "$work/out" "$work/err"
    bad=1
  fi
}
refuses validate --device 0
refuses calibrate --device 0 -o "$work/profile.json"
if [ -e "$work/profile.json" ]; then
  echo "error: calibrate left a profile behind"
  bad=1
fi
"$program" occupancy --gpu h200-sxm --threads 128 --smem 61568 >/dev/null || bad=1
exit $bad

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [CTEST ARGUMENTS...]: installs what is missing, builds everything in build/ and runs all
# tests; further arguments go to ctest ("scripts/test.sh -R residency"). Leaves build/bin/smtwin.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/scripts/build.sh"
[ -x "$root/.cache/tools/bin/ctest" ] && export PATH="$root/.cache/tools/bin:$PATH"
ctest --test-dir "$root/build" --output-on-failure --parallel "${SMTWIN_JOBS:-$(nproc)}" "$@" \
  </dev/null

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh [TARGET...]: dependencies, then the release preset in build/ and the named targets
# (all of them when none is named). scripts/demo.sh and scripts/test.sh start with it.
# SMTWIN_SKIP_DEPS=1 leaves the installed packages alone; SMTWIN_JOBS sets the compile jobs. The
# preset's warnings are errors only with SMTWIN_WARNINGS_AS_ERRORS=ON, as in .ci/run: another
# compiler's opinion must not stop somebody's first build.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

[ "${SMTWIN_SKIP_DEPS:-0}" = 1 ] || "$root/scripts/install-deps.sh"
[ -x "$root/.cache/tools/bin/cmake" ] && export PATH="$root/.cache/tools/bin:$PATH"

# A build folder that was configured elsewhere (a copied or moved checkout) or for another
# generator is configured anew instead of failing.
fresh=()
cache=$root/build/CMakeCache.txt
if [ -f "$cache" ]; then
  if ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" ||
    ! grep -qxF "CMAKE_CACHEFILE_DIR:INTERNAL=$root/build" "$cache" ||
    ! grep -qxF "CMAKE_GENERATOR:INTERNAL=Ninja" "$cache"; then
    fresh=(--fresh)
  fi
fi

launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
targets=()
[ $# -gt 0 ] && targets=(--target "$@")

cmake -S "$root" --preset release "${fresh[@]}" "${launcher[@]}" \
  -DSMTWIN_WARNINGS_AS_ERRORS="${SMTWIN_WARNINGS_AS_ERRORS:-OFF}" </dev/null
cmake --build "$root/build" --parallel "${SMTWIN_JOBS:-$(nproc)}" "${targets[@]}" </dev/null

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence in one SPDX line at the top, is short enough to be read in one
# go, and holds no leftovers.
set -euo pipefail
cd "$1"
most_lines=400
folders=(arch kernels model validate cli tests cmake scripts .ci)
bad=0
while IFS= read -r file; do
  if ! head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0$'; then
    echo "error: $file: no SPDX line in its first two lines"
    bad=1
  fi
  lines=$(wc -l <"$file")
  if [ "$lines" -gt $most_lines ]; then
    echo "error: $file: $lines lines; split it before $most_lines"
    bad=1
  fi
  if grep -nE '\b(TO''DO|FIX''ME|XX''X)\b' "$file"; then
    echo "error: $file: leftover"
    bad=1
  fi
done < <(find "${folders[@]}" CMakeLists.txt -type f \( -name '*.hpp' -o -name '*.cpp' -o \
  -name '*.cu' -o -name '*.cuh' -o -name '*.cmake' -o -name '*.sh' -o -name CMakeLists.txt -o \
  -path '.ci/run' \) | sort)
exit $bad

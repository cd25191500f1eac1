#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes go one way: arch <- kernels <- model <- validate <- cli. The linker catches a wrong edge
# only when a symbol is used; this catches the rest.
set -euo pipefail
cd "$1"
layers=(arch kernels model validate cli)
bad=0
for ((layer = 0; layer < ${#layers[@]}; ++layer)); do
  above=$(IFS='|'; echo "${layers[*]:layer+1}")
  above=${above:+$above|}tests
  if grep -rnE --include='*.hpp' --include='*.cpp' --include='*.cu' --include='*.cuh' \
    "^ *# *include \"($above)/" "${layers[layer]}"; then
    echo "error: ${layers[layer]}/ may include only $(echo "${layers[*]:0:layer+1}" | sed 's/ /, /g')"
    bad=1
  fi
done
exit $bad

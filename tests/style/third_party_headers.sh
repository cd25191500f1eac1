#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Libraries stay behind the interface: their headers appear in .cpp files only, each library only in
# its folder. model/ and the kernels' descriptors are pure: no JSON, files, streams to a terminal,
# clocks or CUDA; compiled_table_io.cpp reads the tables they take registers from. The device half
# is in .cu and .cuh files. The readers of machine code alone see libelf.
set -euo pipefail
cd "$1"
bad=0
forbid() { # MESSAGE PATTERN GREP-ARGUMENTS...
  if grep -rnE "^ *# *include <($2)" "${@:3}"; then
    echo "error: $1"
    bad=1
  fi
}
libraries='nlohmann/|CLI/|boost/|Eigen/'
forbid 'a header of ours shows a library to everyone who includes it' "$libraries" \
  --include='*.hpp' arch kernels model validate cli
forbid 'CLI11 belongs to cli/' 'CLI/' --include='*.cpp' arch kernels model validate
forbid 'Eigen belongs to validate/' 'Eigen/' --include='*.cpp' arch kernels model cli
forbid 'Boost belongs to model/step_graph.cpp' 'boost/' --include='*.cpp' \
  --exclude=step_graph.cpp arch kernels model validate cli
forbid 'libelf belongs to validate/observations/elf.cpp' 'libelf|gelf|elf\.h' --include='*.[ch]pp' \
  --exclude=elf.cpp arch kernels model validate cli
forbid 'model/ and descriptors are pure' \
  'nlohmann/|cuda|fstream>|iostream>|filesystem>|chrono>|ctime>|random>|thread>' \
  --include='*.hpp' --include='*.cpp' --exclude=compiled_table_io.cpp kernels model
exit $bad

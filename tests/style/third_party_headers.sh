#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Libraries stay behind the interface: their headers appear in .cpp files only, each library only in
# its folder. model/ and the kernels' descriptors are pure: no JSON, files, streams to a terminal,
# clocks or CUDA; compiled_table_io.cpp reads the tables they take registers from. References of a
# kernel draw inputs and use threads. The device half is in .cu and .cuh files. Only the reader of
# ELF files sees libelf.
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
impure='nlohmann/|cuda|fstream>|iostream>|filesystem>|chrono>|ctime>'
forbid 'model/ and descriptors are pure' "$impure|random>|thread>" --include='*.[ch]pp' model
forbid 'model/ and descriptors are pure' "$impure|random>|thread>" \
  --include='*.hpp' --include='descriptor.cpp' --include='config.cpp' --include='work.cpp' kernels
forbid 'only the device half of a kernel and its tables see CUDA, JSON and files' "$impure" \
  --include='*.cpp' --exclude=compiled_table_io.cpp kernels
exit $bad

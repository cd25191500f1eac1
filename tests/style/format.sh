#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sources are as clang-format leaves them. Versions differ in details, so only the one the
# project uses counts.
set -euo pipefail
cd "$1"
version=14
tool=$(command -v "clang-format-$version" || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q "version $version\."; then
  echo "smtwin-test-skipped: formatting is compared with clang-format $version, which is not here"
  exit 0
fi
find arch kernels model validate cli tests -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 "$tool" --dry-run -Werror

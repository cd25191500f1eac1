#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what smtwin needs to build and to be tested, and only what is missing. Debian 12 and 13,
# Ubuntu 22.04 and 24.04; elsewhere it names the libraries to install by hand. Ubuntu 22.04 ships
# CMake 3.22: there a newer one goes into .cache/tools, which the other scripts put on PATH.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

packages=(build-essential cmake ninja-build libeigen3-dev libboost-graph-dev nlohmann-json3-dev
  libcli11-dev libelf-dev catch2 libbenchmark-dev pkg-config)
minimum_cmake=3.24

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  cat >&2 <<EOF
error: scripts/install-deps.sh: no apt-get here; it installs packages on Debian and Ubuntu only.
Install these with your system's own package manager, then run the script again with
SMTWIN_SKIP_DEPS=1: a C++20 compiler (GCC 11 or newer), CMake $minimum_cmake or newer, Ninja, Eigen 3,
Boost (Graph), nlohmann/json 3, CLI11 2, libelf, pkg-config, Catch2 2.13 or 3; optionally Google
Benchmark.
EOF
  exit 2
fi

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "error: scripts/install-deps.sh: needs root or sudo for: $*" >&2
    exit 2
  fi
}

apt_install() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "installing: ${missing[*]}"
  if [ -z "${apt_lists_fresh:-}" ]; then
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null
    apt_lists_fresh=1
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
    "${missing[@]}" </dev/null >/dev/null
}

cmake_is_new_enough() {
  local found
  found=$("$1" --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9][0-9.]*\).*/\1/p') || return 1
  [ -n "$found" ] &&
    [ "$(printf '%s\n%s\n' "$minimum_cmake" "$found" | sort -V | head -n 1)" = "$minimum_cmake" ]
}

apt_install "${packages[@]}"

if ! cmake_is_new_enough cmake && ! cmake_is_new_enough "$root/.cache/tools/bin/cmake"; then
  echo "installing: cmake $minimum_cmake or newer into .cache/tools"
  apt_install python3-venv
  python3 -m venv "$root/.cache/tools"
  "$root/.cache/tools/bin/pip" -q install "cmake>=$minimum_cmake,<4" </dev/null
fi

// SPDX-License-Identifier: Apache-2.0
// The GPUs that ship with smtwin, and finding one by whatever spelling a user pastes.
#pragma once

#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"

namespace smtwin {

// Folder with gpus/, models/ and so on: $SMTWIN_DATA, else beside the binary (../share/smtwin,
// ../../data, ../data), else the source tree it was built from. DataError when none exists.
std::string data_directory();

// Canonical names of the shipped GPUs, products first, generic "sm-NN" entries last.
std::vector<std::string> gpu_names();

// A GPU by canonical name, alias, marketing name, device-query name, "sm_120", or path of a JSON
// file. Case, blanks, '-' and '_' do not matter, nor do "NVIDIA" and "GeForce". A miss is a
// UsageError that lists the nearest names.
GpuSpec find_gpu(const std::string& name_or_file);

}  // namespace smtwin

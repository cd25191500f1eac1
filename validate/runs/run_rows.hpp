// SPDX-License-Identifier: Apache-2.0
// The timed readings of a run as families that the fitter and the scorer of measured rows take: one
// family a kernel (and data type, where those have constants of their own), each reading a prepared
// point of its time model. Readings of one shape belong together whatever their configuration, so
// that whole shapes are fitted or held out.
// Peers without a time model, readings of a configuration that does not fit the GPU (which nothing
// could have run) and of a wrong result are left out and named.
#pragma once

#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "model/families/own_kernels/own_kernel_model.hpp"
#include "validate/measurements/measured_families.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

struct RunReadings {
  OwnKernelFamily family;
  std::vector<const TimeReading*> readings;  // point i of the problem
  std::vector<Parameters> parameters;        // complete, of the descriptor
  std::vector<std::string> configs;          // compact
  std::vector<std::string> shapes;           // "heads=16 topk=2048 batch=64", by shape index
};

struct RunRows {
  std::vector<FamilyRows> families;   // problems included; `rows` stay empty
  std::vector<RunReadings> readings;  // of the same families, in the same order
  std::vector<std::string> left_out;  // each a sentence
};

// `gpu`: the one the run was taken on. The readings must outlive the result. DataError names kernel
// and parameter where a reading does not belong to the descriptor.
RunRows run_rows(const RunFile& run, const GpuSpec& gpu);

// The run's GPU in the catalog. DataError when the run does not name one that is known.
GpuSpec gpu_of_run(const RunFile& run);

}  // namespace smtwin

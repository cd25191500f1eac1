// SPDX-License-Identifier: Apache-2.0
// A run against everything the twin says about it: residency (predicted, the driver's, seen),
// registers and shared bytes (compiled table, descriptor, driver), times (predicted, measured, the
// floor that physics sets) and the configuration it would pick against the fastest measured one.
//
// Floor of an operation, whatever the kernel or its splits do:
//   max(bytes that must move once / DRAM read rate, useful flops / multiply rate of its pipe)
// with both rates from the run's own probes, or from the specification where it has none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "validate/runs/run_calibration.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

// One compiled function of one of our kernels.
struct FunctionScore {
  const FunctionReading* reading = nullptr;
  std::string config = {};  // compact
  bool main = true;         // false: a combine or reduction beside it
  std::optional<std::int32_t> predicted_ctas_per_sm = {};  // of main functions
  std::optional<std::int32_t> compiled_registers = {};     // of the compiled table
  std::optional<std::int64_t> predicted_shared_bytes = {};

  bool residency_differs() const;  // from the driver, or more seen than predicted
  bool registers_differ() const;
  bool shared_bytes_differ() const;
  bool differs() const {
    return residency_differs() || registers_differ() || shared_bytes_differ();
  }
};

// One reading with what the twin says about it.
struct PointReport {
  const TimeReading* reading = nullptr;
  std::string config;               // compact
  std::string family = {};          // "run/dense_gemm/bf16"; empty without a time model
  const RunPoint* point = nullptr;  // of its family's score; null without a time model
  double error() const;             // |predicted / measured - 1|; NaN without a prediction
};

struct PeerTime {
  std::string name;
  std::string config = {};  // its fastest
  double seconds = 0;
};

// All cold readings of one shape of one kernel whose results are not wrong.
struct ShapeReport {
  std::string kernel;
  std::string shape;                  // what varies in the run: "heads=16 topk=2048 batch=64"
  const PointReport* best = nullptr;  // fastest measured
  // Picks choose among configurations whose splits follow the kernel's rule. Null: there are none,
  // or none has a prediction.
  const PointReport* best_by_rule = nullptr;  // fastest measured of those
  const PointReport* picked = nullptr;        // fastest predicted of those
  std::size_t configs = 0;
  double floor_s = 0;                // 0 = not known
  std::vector<PeerTime> peers = {};  // fastest first
  double picked_costs() const;       // measured picked / measured best_by_rule - 1
};

struct RunReport {
  const RunFile* run = nullptr;
  GpuSpec gpu;
  double dram_bytes_per_s = 0;
  double math_flops_per_s = 0;  // bf16
  std::string rates_source;     // of the floor's rates, in words
  RunScore times;               // families with their errors and picks
  std::vector<FunctionScore> functions;
  std::vector<PointReport> points;  // one a reading
  std::vector<ShapeReport> shapes;
  std::size_t wrong_results = 0;  // readings beyond kLargestRelativeError
  std::size_t checked = 0;        // readings that were compared with float64

  RunReport() = default;
  RunReport(const RunReport&) = delete;  // its parts point at each other
  RunReport& operator=(const RunReport&) = delete;
  std::size_t differing_functions() const;
};

// `run` must outlive the result. `score` predicts its readings: score_run with a profile of this
// GPU or without, or score_held_out; shapes that it fitted on are not reported as predicted.
std::unique_ptr<RunReport> report_run(const RunFile& run,
                                      const std::function<RunScore(const RunRows&)>& score);

// Readings of the same GPU and driver in one run, with the head of the first that this program
// took. `runs` is not empty; DataError names the file that differs.
RunFile join_runs(const std::vector<RunFile>& runs, const std::vector<std::string>& names);

}  // namespace smtwin

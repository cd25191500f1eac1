// SPDX-License-Identifier: Apache-2.0
// The answer of `smtwin fit`: which configurations of a kernel fit a GPU, by how many bytes the
// others miss, how the survivors rank, and what an autotuner over the list would have compared.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/kernel_run.hpp"
#include "cli/verb.hpp"

namespace smtwin {

struct FitEntry {
  KernelRun run;
  int rank = 0;  // 1 = fastest predicted of those that fit; 0 = does not fit or no time
  bool picked = false;
  std::string picked_because = {};
};

struct FitAnswer {
  const KernelDescriptor* kernel = nullptr;
  GpuChoice gpu;
  KernelOptions options;
  Parameters shapes;       // complete; config parameters as the base has them
  bool from_list = false;  // else the whole config space
  bool show_all = false;
  std::vector<FitEntry> entries;  // in list order, or by rank and then by bytes missing
  std::size_t fitting = 0;
  std::vector<std::string> sentences;  // what the autotuner did not say
  std::vector<KernelRun> also_fit;     // nearest to the list, with --list only
  std::string no_time_because;
};

// `list` holds compact configurations; empty = the whole space.
FitAnswer answer_fit(const KernelDescriptor& kernel, const GpuChoice& gpu, const Parameters& base,
                     const std::vector<std::string>& list, const KernelOptions& options);

void print_fit(std::ostream& out, const FitAnswer& answer);
std::string fit_json(const FitAnswer& answer);
void write_fit_csv(std::ostream& out, const FitAnswer& answer);

}  // namespace smtwin

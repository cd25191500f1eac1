// SPDX-License-Identifier: Apache-2.0
// One decode answer, computed once and shown by three views (view_decode.cpp, _ops.cpp, _data.cpp):
// every layout x batch x context that was asked for, with its step time or the reason it has none.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/profile_choice.hpp"
#include "cli/verb.hpp"
#include "model/memory_fit.hpp"
#include "model/step_time.hpp"

namespace smtwin {

struct DecodeRequest {
  std::vector<Layout> layouts;
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> contexts;
  NumberFormat kv_format = NumberFormat::bf16;
  MemoryOptions memory;
  StepOptions step;  // batch, context, formats and chip are filled in per row
  double host_s = 0;
  KernelSettings kernels;
  ProfileChoice profile = {};
  ServingFramework framework = ServingFramework::vllm;  // whose kernels run
};

enum class DecodeStatus {
  runs,
  does_not_fit,     // not one sequence
  batch_too_large,  // fits, but not that many sequences
  refused,          // engines do not load this layout
  not_modelled,     // no collective of that many GPUs
  no_kernel         // an op has no configuration that fits this GPU
};
std::string_view to_string(DecodeStatus status);  // "does_not_fit"

struct DecodeRow {
  Layout layout;
  std::int64_t batch = 0;
  std::int64_t context = 0;
  DecodeStatus status = DecodeStatus::runs;
  std::string reason = {};  // why there is no time; empty when it runs
  std::optional<MemoryFit> memory = {};
  int gpus_that_fit = 0;  // with does_not_fit; 0 = none of the sizes looked at
  std::optional<StepTime> step = {};
};

struct DecodeAnswer {
  ModelSpec model;
  GpuSpec gpu;
  std::vector<AppliedOverride> overrides;
  DecodeRequest request;
  std::vector<DecodeRow> rows;
  std::vector<std::string> notes;
  std::shared_ptr<const FittedOps> fitted = {};  // null: uncalibrated
};

// UsageError when not a single layout that was asked for is one that engines load and that is
// modelled; in a list such layouts are rows with their reason.
DecodeAnswer answer_decode(ModelSpec model, const GpuChoice& gpu, DecodeRequest request);

// "experts mxfp4, other matrices fp8_block, lm_head bf16": formats by the weights they hold.
std::string describe_formats(const ModelSpec& model);

void print_decode(std::ostream& out, const DecodeAnswer& answer);
void print_decode_breakdown(std::ostream& out, const DecodeAnswer& answer);
void print_decode_explanation(std::ostream& out, const DecodeAnswer& answer);
std::string decode_json(const DecodeAnswer& answer, bool with_ops);
void write_decode_csv(std::ostream& out, const DecodeAnswer& answer, bool with_ops);

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "cli/decode_answer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"

namespace smtwin {
namespace {

std::string flag_of(const Layout& layout) {
  return "--tp " + std::to_string(layout.tp) +
         (layout.ep > 1 ? " --ep " + std::to_string(layout.ep) : "");
}

// Why a layout cannot be answered, and what kind of answer that is.
struct Refusal {
  DecodeStatus status = DecodeStatus::runs;
  std::string reason;   // for a row
  std::string message;  // for an error of its own
};

// Why the collectives of this layout have no time; empty when they have. Fitted families know every
// GPU count of a host of 8; without them, and where not a single pair of such GPUs was measured,
// the counts that the GPU's file has.
std::string collectives_missing(const GpuSpec& gpu, const FittedOps* fitted, int gpus) {
  constexpr int kHostGpus = 8;
  const bool measured =
      fitted != nullptr && gpu.allreduce_alpha_s.front().has_value() && gpus <= kHostGpus;
  return measured ? "" : collective_gap(gpu, gpus);
}

Refusal refusal_of(const ModelSpec& model, const GpuSpec& gpu, const FittedOps* fitted,
                   const Layout& layout) {
  const std::vector<LayoutViolation> violations = check_layout(model, layout);
  if (!violations.empty()) {
    return {DecodeStatus::refused, violations.front().found, describe(violations.front(), model)};
  }
  const std::string gap = collectives_missing(gpu, fitted, layout.tp);
  if (!gap.empty()) return {DecodeStatus::not_modelled, gap, flag_of(layout) + ": " + gap};
  return {};
}

// Messages that decode steps of small, middle and large batches send.
constexpr double kNotedMessages[] = {16e3, 256e3, 4e6};

std::string missing_memory(const DecodeRow& row) {
  const MemoryFit& m = *row.memory;
  std::string text = "does not fit: needs " + format_size(m.needed_bytes) + " a GPU, " +
                     format_size(m.budget_bytes) + " usable; ";
  text += row.gpus_that_fit > 0
              ? "a replica of " + std::to_string(row.gpus_that_fit) + " GPUs fits"
              : "no replica of up to " + std::to_string(kLargestTp) + " GPUs fits";
  return text;
}

class Decoder {
 public:
  Decoder(DecodeAnswer& answer)
      : answer_(answer), timer_(answer.gpu, answer.request.kernels, answer.fitted) {}

  void add_layout(const Layout& layout, const Refusal& refusal) {
    for (const std::int64_t context : answer_.request.contexts) {
      if (refusal.status != DecodeStatus::runs) {
        answer_.rows.push_back({.layout = layout,
                                .batch = 0,
                                .context = context,
                                .status = refusal.status,
                                .reason = refusal.reason});
        continue;
      }
      MemoryOptions options = answer_.request.memory;
      options.context = context;
      options.kv_format = answer_.request.kv_format;
      DecodeRow row{.layout = layout, .context = context};
      row.memory = memory_fit(answer_.model, layout, answer_.gpu, options);
      if (!row.memory->fits) {
        row.status = DecodeStatus::does_not_fit;
        row.gpus_that_fit = fewest_gpus_that_fit(answer_.model, layout, answer_.gpu, options);
        row.reason = missing_memory(row);
        answer_.rows.push_back(std::move(row));
        continue;
      }
      for (const std::int64_t batch : answer_.request.batches) add_batch(row, batch);
    }
  }

 private:
  void add_batch(DecodeRow row, std::int64_t batch) {
    row.batch = batch;
    const std::int64_t most = row.memory->max_sequences;
    if (batch > most) {
      row.status = DecodeStatus::batch_too_large;
      row.reason = "the cache holds " + format_count(most) +
                   (most == 1 ? " sequence" : " sequences") + " of " + format_count(row.context) +
                   " tokens";
    } else {
      StepOptions options = answer_.request.step;
      options.batch = batch;
      options.context = row.context;
      StepTime step = step_time(step_ops(answer_.model, row.layout, options), options, timer_,
                                answer_.request.host_s);
      if (step.not_run.empty()) {
        row.step = std::move(step);
      } else {
        row.status = DecodeStatus::no_kernel;
        row.reason = "no kernel configuration fits an SM for " + join(step.not_run, ", ");
      }
    }
    answer_.rows.push_back(std::move(row));
  }

  DecodeAnswer& answer_;
  OpTimer timer_;
};

bool has_attention(const ModelSpec& model, AttentionKind kind) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [&](const LayerSpec& l) { return l.attention.kind == kind; });
}

std::string collective_note(const DecodeAnswer& a, int tp) {
  if (a.fitted) {
    StepOp op;
    op.kind = OpKind::collective;
    op.collective = Collective::all_reduce;
    op.ranks = tp;
    std::string text = "all-reduce over " + std::to_string(tp) + " GPUs (" +
                       interconnect_name(a.gpu) + ", " +
                       std::string(a.fitted->transferred() ? "transferred" : "fitted") + "):";
    const char* comma = " ";
    for (const double bytes : kNotedMessages) {
      op.message_bytes = bytes;
      const auto time = a.fitted->time(op);
      if (!time) break;
      text += comma + format_size(bytes) + " " + format_time(time->seconds) + " by " +
              time->parts.choice;
      comma = ", ";
    }
    if (*comma == ',') return text;
  }
  const CollectiveTime t = collective_time(a.gpu, Collective::all_reduce, tp, 0);
  return "all-reduce over " + std::to_string(tp) + " GPUs (" + interconnect_name(a.gpu) +
         "): " + format_time(t.latency_s) + " + 2 (n-1)/n bytes / " +
         format_bandwidth(t.bytes_per_s) + ", " + std::string(to_string(t.provenance));
}

// Some attention op of these steps was timed as if all contexts were equal.
bool spread_ignored(const DecodeAnswer& a) {
  for (const DecodeRow& row : a.rows) {
    if (!row.step) continue;
    for (const SegmentTime& segment : row.step->segments) {
      for (const OpTime& op : segment.ops) {
        if (op.op.group == OpGroup::attention && !op.time.spread_modelled && !op.time.in_leader) {
          return true;
        }
      }
    }
  }
  return false;
}

std::vector<std::string> notes_of(const DecodeAnswer& a) {
  std::vector<std::string> notes = a.model.notes;
  std::vector<int> sizes;
  bool padded_batch = false;
  for (const DecodeRow& row : a.rows) {
    if (!row.step) continue;
    if (row.layout.tp > 1) sizes.push_back(row.layout.tp);
    padded_batch = padded_batch || row.step->captured_batch != row.step->batch;
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int tp : sizes) notes.push_back(collective_note(a, tp));
  if (a.request.step.context_cv > 0 && spread_ignored(a)) {
    notes.push_back(
        "attention kernels other than FlashAttention 2 and 3 of a profile are timed as if all "
        "contexts were equal");
  }
  if (padded_batch) {
    notes.push_back(
        "batches run in captured CUDA graphs of 1, 2, 4 and multiples of 8 rows; "
        "padding rows cost weights and experts, not cache");
  }
  const auto largest = std::max_element(sizes.begin(), sizes.end());
  if (largest != sizes.end()) {
    const std::int64_t rows = shard_vocabulary(a.model.embedding, {.tp = *largest}).out * *largest;
    if (rows != a.model.vocabulary) {
      notes.push_back("vocabulary padded to 64 rows a rank: " + format_count(rows) + " for " +
                      format_count(a.model.vocabulary) + " at TP" + std::to_string(*largest));
    }
  }
  if (has_attention(a.model, AttentionKind::dsv4) && a.gpu.compute_capability.major == 12) {
    notes.push_back(
        "engines that lack sm_120 indexer kernels fall back to slow ones (about 0.66 ms a "
        "sequence and ratio-4 layer in NVIDIA aiconfigurator's tables); modelled here is what "
        "the chip could do");
  }
  return notes;
}

}  // namespace

std::string_view to_string(DecodeStatus status) {
  switch (status) {
    case DecodeStatus::runs:
      return "runs";
    case DecodeStatus::does_not_fit:
      return "does_not_fit";
    case DecodeStatus::batch_too_large:
      return "batch_too_large";
    case DecodeStatus::refused:
      return "refused";
    case DecodeStatus::not_modelled:
      return "not_modelled";
    case DecodeStatus::no_kernel:
      return "no_kernel";
  }
  return "unknown";
}

std::string describe_formats(const ModelSpec& model) {
  std::map<NumberFormat, double> experts;
  std::map<NumberFormat, double> others;
  for (const LayerSpec& layer : model.layers) {
    for (const WeightMatrix& m : layer.weights) {
      (m.shard == Shard::experts ? experts : others)[m.format] += m.parameters();
    }
  }
  const auto most = [](const std::map<NumberFormat, double>& formats) {
    return std::string(to_string(
        std::max_element(formats.begin(), formats.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first));
  };
  const WeightMatrix& head = model.lm_head.copies == 0 ? model.embedding : model.lm_head;
  const std::string output(to_string(head.format));
  const std::string expert = experts.empty() ? output : most(experts);
  const std::string other = others.empty() ? output : most(others);
  if (expert == output && other == output) return "weights " + output;
  return (experts.empty() ? "weights " : "experts " + expert + ", other matrices mostly ") + other +
         ", lm_head " + output;
}

DecodeAnswer answer_decode(ModelSpec model, const GpuChoice& gpu, DecodeRequest request) {
  DecodeAnswer answer{.model = std::move(model),
                      .gpu = gpu.gpu,
                      .overrides = gpu.context.overrides,
                      .request = std::move(request),
                      .rows = {},
                      .notes = {}};
  if (const auto& profile = answer.request.profile.profile) {
    answer.fitted = std::make_shared<FittedOps>(answer.gpu, find_gpu(profile->gpu), profile,
                                                answer.request.framework);
  }
  StepOptions& step = answer.request.step;
  step.kv_format = answer.request.kv_format;
  step.math = math_support(answer.gpu);
  step.sm_count = require(answer.gpu, answer.gpu.sm_count, "sm_count");

  std::vector<Refusal> refusals;
  for (const Layout& layout : answer.request.layouts) {
    refusals.push_back(refusal_of(answer.model, answer.gpu, answer.fitted.get(), layout));
  }
  const bool none = std::all_of(refusals.begin(), refusals.end(),
                                [](const Refusal& r) { return r.status != DecodeStatus::runs; });
  if (none) throw UsageError(refusals.front().message);

  Decoder decoder(answer);
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    decoder.add_layout(answer.request.layouts[i], refusals[i]);
  }
  answer.notes = notes_of(answer);
  return answer;
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "model/op_kernel.hpp"

#include <algorithm>
#include <utility>

#include "arch/error.hpp"
#include "model/collectives.hpp"
#include "model/regime_bound.hpp"

namespace smtwin {
namespace {

constexpr const char* kDenseGemm = "triton_gemm";
constexpr const char* kGroupedGemm = "triton_moe_gemm";
constexpr const char* kNvfp4Gemm = "cutlass_nvfp4";
constexpr const char* kSparseDecode = "sparse_decode_fieldnotes";

}  // namespace

std::vector<std::string> step_kernel_names() {
  return {kDenseGemm, kGroupedGemm, kNvfp4Gemm, kSparseDecode};
}

OpTimer::OpTimer(const GpuSpec& gpu, KernelSettings settings,
                 std::shared_ptr<const FittedOps> fitted)
    : gpu_(gpu), settings_(std::move(settings)), fitted_(std::move(fitted)) {
  for (const auto& [kernel, pinned] : settings_) {
    complete_parameters(find_kernel(kernel), pinned);
    for (const ParameterSpec& spec : find_kernel(kernel).parameters()) {
      if (spec.role != ParameterRole::shape || !pinned.contains(spec.name)) continue;
      throw UsageError("kernel." + kernel + '.' + spec.name +
                       ": shapes follow from the model and the batch; pin a configuration "
                       "parameter such as num_warps");
    }
  }
}

KernelTimeOptions OpTimer::options(const StepOp& op) const {
  KernelTimeOptions options;
  options.l2 = op.weight_bytes + op.kv_bytes > 0 ? L2State::cold : L2State::warm;
  options.launch = LaunchMode::graph;
  return options;
}

std::vector<KernelInstance> OpTimer::candidates(const StepOp& op,
                                                const KernelSettings& settings) const {
  switch (op.kind) {
    case OpKind::gemm:
    case OpKind::grouped_gemm:
      return gemm_instances(op, gpu_, settings);
    case OpKind::sparse_attention: {
      std::vector<KernelInstance> gather = sparse_attention_instances(op, gpu_, settings);
      if (!gather.empty()) return gather;
      return {attention_instance(op, gpu_)};
    }
    case OpKind::attention:
      return {attention_instance(op, gpu_)};
    case OpKind::streaming:
      return {streaming_instance(op, gpu_)};
    case OpKind::collective:
      break;
  }
  return {};
}

double OpTimer::dram_share(const KernelSeconds& time) const {
  const double peak = require(gpu_, gpu_.dram_bytes_per_s, "dram_bytes_per_s") *
                      require(gpu_, gpu_.dram_read_efficiency, "dram_read_efficiency");
  const double busy_s = (time.traffic.dram_read_bytes + time.traffic.dram_write_bytes) / peak;
  return std::min(1.0, busy_s / time.seconds);
}

OpSeconds OpTimer::fastest(const StepOp& op, const KernelSettings& settings) const {
  OpSeconds best;
  if (op.kind == OpKind::collective) {
    best.kernel = "collective";
    const CollectiveTime time = collective_time(gpu_, op.collective, op.ranks, op.message_bytes);
    best.seconds = time.seconds;
    best.provenance = time.provenance;
    return best;
  }
  best.runs = false;
  for (const KernelInstance& instance : candidates(op, settings)) {
    const KernelSeconds time = kernel_seconds(gpu_, instance, options(op));
    if (!time.runs || (best.runs && time.seconds >= best.seconds)) continue;
    best.runs = true;
    best.seconds = time.seconds;
    best.binding = time.binding;
    best.dram_share = dram_share(time);
    best.kernel = instance.kernel;
    best.config = instance.config;
  }
  return best;
}

bool OpTimer::pinned(const StepOp& op) const {
  if (op.kind != OpKind::gemm && op.kind != OpKind::grouped_gemm) return false;
  if (op.weight_format == NumberFormat::nvfp4) return settings_.contains(kNvfp4Gemm);
  return settings_.contains(op.kind == OpKind::gemm ? kDenseGemm : kGroupedGemm);
}

void OpTimer::scale_to_pin(const StepOp& op, OpSeconds& time) const {
  const OpSeconds with = fastest(op, settings_);
  const OpSeconds without = fastest(op, {});
  time.runs = with.runs;
  if (!with.runs || !without.runs) return;
  time.seconds *= with.seconds / without.seconds;
  time.dram_share *= without.seconds / with.seconds;
  time.interval = kernel_model_errors(fitted_->unmeasured()).around(time.seconds);
  time.binding = with.binding;
  time.config = with.config;
  time.provenance = Provenance::extrapolated;
}

OpSeconds OpTimer::timed(const StepOp& op) const {
  if (!fitted_) return fastest(op, settings_);
  OpSeconds time;
  if (const auto known = fitted_->time(op)) {
    time.seconds = known->seconds;
    time.interval = known->interval;
    time.binding = bound_of(known->regime(), Bound::tensor);
    time.dram_share = std::min(1.0, known->dram_bytes / fitted_->dram_rate() / known->seconds);
    time.kernel = known->family;
    time.family = known->family;
    time.spread_modelled = known->spread_modelled;
    time.config = known->parts.choice;
    time.provenance = fitted_->transferred() ? Provenance::transferred : Provenance::fitted;
    if (pinned(op)) scale_to_pin(op, time);
  } else {
    time = fastest(op, settings_);
    time.interval =
        kernel_model_errors(fitted_->unmeasured(),
                            op.kind == OpKind::streaming ? kStreamingErrors : kKernelModelErrors)
            .around(time.seconds);
  }
  time.with_interval = true;
  return time;
}

OpTimer::Key OpTimer::key_of(const StepOp& op) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  return {number(op.kind),
          number(op.rows),
          number(op.n),
          number(op.k),
          number(op.copies),
          number(op.experts),
          number(op.experts_per_token),
          number(op.weight_format),
          number(op.activation_format),
          number(op.pipe),
          number(op.sequences),
          number(op.tokens),
          number(op.heads),
          number(op.kv_heads),
          number(op.head_dim),
          number(op.v_head_dim),
          number(op.splits),
          op.weight_bytes + op.kv_bytes,
          op.read_bytes,
          op.write_bytes,
          op.fp32_flops,
          number(op.ctas),
          op.passes,
          number(op.collective),
          number(op.ranks),
          op.message_bytes,
          number(op.context),
          number(op.window),
          op.context_cv,
          number(op.latent),
          number(op.kv_format),
          number(op.expert_layer ? op.expert_layer->tokens : 0),
          number(op.expert_layer ? op.expert_layer->experts : 0),
          number(op.expert_layer ? op.expert_layer->intermediate : 0),
          number(op.expert_layer ? op.expert_layer->ep : 0),
          number(op.expert_layer ? op.expert_layer->tp : 0),
          number(op.expert_layer ? op.expert_layer->hidden : 0),
          number(op.expert_layer && op.expert_layer->gated)};
}

const OpSeconds& OpTimer::time(const StepOp& op) {
  const Key key = key_of(op);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, timed(op)).first->second;
}

}  // namespace smtwin

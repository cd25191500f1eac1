// SPDX-License-Identifier: Apache-2.0
#include "model/fitted_ops.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/families/attention/attention_time.hpp"
#include "model/families/collectives/collective_time.hpp"
#include "model/families/gemm/gemm_time.hpp"
#include "model/families/mla/mla_time.hpp"
#include "model/families/moe/moe_time.hpp"
#include "model/families/moe/uniform_routing.hpp"
#include "model/serving_kernels.hpp"
#include "model/spread_contexts.hpp"
#include "model/timing/transfer.hpp"
#include "model/timing/uncertainty.hpp"

namespace smtwin {
namespace {

// The kernels whose ragged batches AttentionTimeModel::ragged_s follows.
bool models_unequal_contexts(const AttentionTimeModel& model) {
  return std::holds_alternative<FlashAttention2>(model.kernel()) ||
         std::holds_alternative<FlashAttention3>(model.kernel());
}

double number(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

FittedOps::FittedOps(const GpuSpec& gpu, const GpuSpec& fitted_on,
                     std::shared_ptr<const CalibrationProfile> profile, ServingFramework framework)
    : gpu_(timing_gpu(gpu)),
      fitted_on_(timing_gpu(fitted_on)),
      profile_(std::move(profile)),
      framework_(framework),
      transferred_(!same_specification(gpu_, fitted_on_)) {
  dram_rate_ = gpu_.dram_read_bytes_per_s;
  for (const FittedConstant& c : profile_->gpu_constants) {
    if (c.name == "dram_rate") {
      dram_rate_ = c.value * gpu_.dram_read_bytes_per_s / fitted_on_.dram_read_bytes_per_s;
    }
  }
}

FittedTime FittedOps::finish(const FamilyCalibration& family, const Specs& source,
                             const Specs& target, const PartsAt& parts_at) const {
  const std::vector<double> values = transferred_values(family, source, fitted_on_, target, gpu_);
  const TimeParts parts = parts_at(values);
  const double variance = variance_from_constants(
      log_sensitivities([&](std::span<const double> v) { return parts_at(v).seconds; }, values),
      family.covariance);
  FittedTime time;
  time.seconds = parts.seconds;
  time.interval =
      interval_of(parts.seconds, parts.regime(), family, variance, transferred_ ? kTransferSd : 0);
  time.family = family.identity.key();
  time.calibration = &family;
  time.values = values;
  time.parts = parts;
  return time;
}

std::optional<FittedTime> FittedOps::time(const StepOp& op) const {
  switch (op.kind) {
    case OpKind::gemm:
      return gemm(op);
    case OpKind::grouped_gemm:
      return experts(op);
    case OpKind::attention:
      return op.latent ? latent_attention(op) : attention(op);
    case OpKind::collective:
      return collective(op);
    case OpKind::sparse_attention:
    case OpKind::streaming:
      break;
  }
  return std::nullopt;
}

std::optional<FittedTime> FittedOps::gemm(const StepOp& op) const {
  const bool batched = op.copies > 1;
  const std::vector<FamilyIdentity> kernels =
      batched ? batched_gemm_kernels(framework_, op.weight_format, gpu_)
              : gemm_kernels(framework_, op.weight_format, gpu_);
  for (const FamilyIdentity& id : kernels) {
    const FamilyCalibration* family = profile_->find(id);
    if (family == nullptr) continue;
    const auto model_on = [&](const TimingGpu& gpu) {
      return GemmTimeModel(batched
                               ? mla_bmm_implementation(id.framework, id.dtype, gpu)
                               : gemm_implementation(id.framework, id.kernel_source, id.dtype, gpu),
                           gpu);
    };
    const GemmTimeModel model = model_on(gpu_);
    GemmPoint point = model.cold_point(
        {.b = number(op.copies), .m = number(op.rows), .n = number(op.n), .k = number(op.k)});
    // The step lists the kernels that quantize activations on their own.
    point.quant_bytes = 0;
    point.quant_rows = 0;
    FittedTime time =
        finish(*family, model_on(fitted_on_).constants(), model.constants(),
               [&](std::span<const double> v) { return model.parts(point, model.read(v)); });
    time.dram_bytes = op.weight_bytes;
    return time;
  }
  return std::nullopt;
}

std::optional<FittedTime> FittedOps::attention(const StepOp& op) const {
  if (op.head_dim != op.v_head_dim || op.context <= 0) return std::nullopt;
  const std::vector<double> lengths =
      spread_contexts(op.sequences, number(op.context) + 1, op.context_cv);
  for (const AttentionKernel& kernel :
       attention_kernels(framework_, op.kv_format, op.head_dim, gpu_)) {
    const FamilyCalibration* family = profile_->find(kernel.identity);
    if (family == nullptr) continue;
    const AttentionTimeModel model(gpu_, kernel.family);
    const AttentionShape shape{.batch = number(op.sequences),
                               .q_heads = number(op.heads),
                               .kv_heads = number(op.kv_heads),
                               .head_dim = number(op.head_dim),
                               .window = number(op.window),
                               .kv_tokens = number(op.context) + 1};
    FittedTime time = finish(*family, AttentionTimeModel(fitted_on_, kernel.family).constants(),
                             model.constants(), [&](std::span<const double> v) {
                               TimeParts parts = model.parts(shape, v, CacheState::cold);
                               if (op.context_cv > 0) {
                                 parts.seconds =
                                     model.ragged_s(lengths, shape, v, CacheState::cold);
                               }
                               return parts;
                             });
    time.dram_bytes = op.kv_bytes;
    time.spread_modelled = op.context_cv > 0 && models_unequal_contexts(model);
    return time;
  }
  return std::nullopt;
}

std::optional<FittedTime> FittedOps::latent_attention(const StepOp& op) const {
  // The measured kernels read DeepSeek's latent: 512 values and 64 of RoPE.
  if (op.v_head_dim != static_cast<std::int64_t>(kMlaLatentDim) ||
      op.head_dim != static_cast<std::int64_t>(kMlaLatentDim + kMlaRopeDim)) {
    return std::nullopt;
  }
  for (const LatentKernel& kernel : latent_attention_kernels(framework_, op.kv_format, gpu_)) {
    const FamilyCalibration* family = profile_->find(kernel.identity);
    if (family == nullptr) continue;
    const MlaTimeModel model(gpu_, kernel.family);
    const MlaShape shape{.batch = number(op.sequences),
                         .heads = number(op.heads),
                         .kv_tokens = number(op.context) + 1};
    FittedTime time =
        finish(*family, MlaTimeModel(fitted_on_, kernel.family).constants(), model.constants(),
               [&](std::span<const double> v) { return model.parts(shape, v, CacheState::cold); });
    time.dram_bytes = op.kv_bytes;
    return time;
  }
  return std::nullopt;
}

std::optional<FittedTime> FittedOps::experts(const StepOp& op) const {
  if (!op.expert_layer) return std::nullopt;
  const ExpertLayer& layer = *op.expert_layer;
  const MoeShape shape{.tokens = number(layer.tokens),
                       .topk = number(layer.experts_per_token),
                       .experts = number(layer.experts),
                       .ep = static_cast<double>(layer.ep),
                       .tp = static_cast<double>(layer.tp),
                       .hidden = number(layer.hidden),
                       .inter = number(layer.intermediate),
                       .gated = layer.gated};
  for (const ExpertKernel& kernel : expert_kernels(framework_, op.weight_format, gpu_)) {
    const FamilyCalibration* family = profile_->find(kernel.identity);
    if (family == nullptr) continue;
    const MoeTimeModel model(gpu_, kernel.implementation);
    const MoeWork work = model.prepare(shape, uniform_routing(shape));
    FittedTime time = finish(
        *family, MoeTimeModel(fitted_on_, kernel.implementation).constants(), model.constants(),
        [&](std::span<const double> v) { return model.parts(work, v, CacheState::cold); });
    // Of both GEMMs: the down projection has one matrix where gate and up have two.
    time.dram_bytes = op.weight_bytes * (layer.gated ? 1.5 : 2);
    return time;
  }
  return std::nullopt;
}

std::optional<FittedTime> FittedOps::collective(const StepOp& op) const {
  if (op.ranks < 2) return std::nullopt;
  const FamilyCalibration* family = profile_->find({.table = "collectives"});
  if (family == nullptr) return std::nullopt;
  CollectiveQuestion question;
  question.op =
      op.collective == Collective::all_gather ? CollectiveOp::all_gather : CollectiveOp::all_reduce;
  question.gpus = op.ranks;
  question.bytes = op.message_bytes;
  switch (framework_) {
    case ServingFramework::vllm:
      question.provider = CollectiveLibrary::vllm;
      break;
    case ServingFramework::sglang:
      question.provider = CollectiveLibrary::sglang;
      break;
    case ServingFramework::trtllm:
      question.provider = CollectiveLibrary::trtllm;
      break;
  }
  const CollectiveTimeModel model(gpu_);
  const CollectivePlan plan = model.plan(question);
  return finish(*family, CollectiveTimeModel(fitted_on_).constants(), model.constants(),
                [&](std::span<const double> v) { return model.parts(plan, v); });
}

}  // namespace smtwin

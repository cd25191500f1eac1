// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/mla_module_time.hpp"

#include <cmath>

#include "model/timing/constant_specs.hpp"

namespace smtwin {

namespace {

// DeepSeek-V3 (config.json of the published model).
constexpr double kHidden = 7168, kQueryRank = 1536, kHeadDim = 128;
constexpr double kDownWidth = kQueryRank + kMlaLatentDim + kMlaRopeDim;
constexpr double kBf16 = 2;

// Values a token that the small kernels between the GEMMs read and write: norms and rope of the
// hidden state and the down projection, queries and outputs of a head. Assumed, not verified: only
// their ratios matter, `activation_rate` takes up any common factor.
constexpr double kHiddenPasses = 4, kDownPasses = 3, kHeadValues = 1500;

constexpr double kVllmPhase = 0.37, kTrtllmPhase = 0.42;  // in a tick, see mla_time.cpp

bool vllm(MlaLibrary library) {
  return library == MlaLibrary::vllm_flash_attention3 || library == MlaLibrary::vllm_flashmla ||
         library == MlaLibrary::vllm_triton;
}

}  // namespace

MlaModuleTimeModel::MlaModuleTimeModel(const TimingGpu& gpu, MlaFamily family, ProjectionType type)
    : gpu_(gpu),
      family_(family),
      type_(type),
      kernel_(gpu, family, true, constants_),
      projections_(gpu, type, vllm(family.provider), constants_) {
  fixed_s_ = constants_.time("fixed_time", "launch gaps and short kernels of the module",
                             vllm(family.provider) ? 65e-6 : 35e-6, 0.4);
  narrow_head_s_ = MlaConstant(0);
  activation_rate_ = MlaConstant(kNoRate);
  if (family.provider == MlaLibrary::vllm_flashmla) {
    narrow_head_s_ = constants_.time(
        "narrow_head_time", "extra pass over a head where heads do not fill a tile of 64", 8e-9);
  }
  if (type != ProjectionType::nvfp4 && family.provider != MlaLibrary::vllm_triton) {
    activation_rate_ = constants_.rate("activation_rate", "B/s", "norms, rope, queries and outputs",
                                       0.5 * gpu.dram_bytes_per_s);
  }
}

MlaModuleTimeModel::Work MlaModuleTimeModel::work(const MlaShape& shape) const {
  const double h = shape.heads, b = projection_weight_bytes(type_);
  Work w;
  w.projections.rows = shape.batch;
  w.projections.add({.n = kDownWidth, .k = kHidden, .element_bytes = b});
  w.projections.add({.n = h * (kHeadDim + kMlaRopeDim), .k = kQueryRank, .element_bytes = b});
  w.projections.add({.n = h * kMlaLatentDim, .k = kHeadDim, .element_bytes = kBf16});
  w.projections.add({.n = h * kHeadDim, .k = kMlaLatentDim, .element_bytes = kBf16});
  w.projections.add({.n = kHidden, .k = h * kHeadDim, .element_bytes = b});
  const double weights = w.projections.weight_bytes();
  const double kv = shape.kv_bytes(family_.fp8_kv ? 1 : 2);
  w.projections.cold = replayed_cold_share(weights + kv, gpu_);
  w.attention = kernel_.work(shape, weights);
  if (std::fmod(h, kMlaQueryTile) != 0) w.narrow_heads = shape.batch * h;
  w.activation_bytes =
      kBf16 * shape.batch * (kHiddenPasses * kHidden + kDownPasses * kDownWidth + kHeadValues * h);
  return w;
}

MlaTime MlaModuleTimeModel::time(const Work& w, std::span<const double> values,
                                 CacheState cache) const {
  MlaTime t = kernel_.time(w.attention, values, cache);
  t += projections_.time(w.projections, values, cache);
  const double activation_s = w.activation_bytes / activation_rate_(values);
  t.l2_s += activation_s;
  const double extra_s = fixed_s_(values) + w.narrow_heads * narrow_head_s_(values);
  t.launch_s += extra_s;
  t.seconds += extra_s + activation_s;
  return t;
}

double MlaModuleTimeModel::reading_s(double module_seconds) const {
  return mla_reading_s(module_seconds, gpu_, vllm(family_.provider) ? kVllmPhase : kTrtllmPhase);
}

}  // namespace smtwin

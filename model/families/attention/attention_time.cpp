// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/attention_time.hpp"

#include <algorithm>
#include <numeric>

#include "model/families/attention/ragged_batch.hpp"
#include "model/families/attention/replay_tick.hpp"

namespace smtwin {

namespace {

AttentionTimeModel::Kernel make_kernel(const TimingGpu& gpu, AttentionFamily family) {
  switch (family.provider) {
    case AttentionLibrary::flash_attention2:
      return FlashAttention2(gpu, family);
    case AttentionLibrary::flash_attention3:
      return FlashAttention3(gpu, family);
    case AttentionLibrary::flash_attention4:
      return FlashAttention4(gpu, family);
    case AttentionLibrary::trtllm:
      return TrtllmDecode(gpu, family);
    case AttentionLibrary::flashinfer:
      return FlashInferDecode(gpu, family);
    case AttentionLibrary::triton:
      break;
  }
  return TritonDecode(gpu, family);
}

}  // namespace

std::string split_text(double splits) {
  return splits > 1 ? std::to_string(static_cast<int>(splits)) + " KV splits" : std::string();
}

TimeParts to_parts(const DecodeTime& time, double splits) {
  TimeParts p;
  p.seconds = time.seconds;
  p[Regime::launch] = time.launch_s;
  p[Regime::latency] = time.latency_s;
  p[Regime::l2] = time.l2_s;
  p[Regime::dram] = time.dram_s;
  p.choice = split_text(splits);
  return p;
}

AttentionTimeModel::AttentionTimeModel(const TimingGpu& gpu, AttentionFamily family)
    : kernel_(make_kernel(gpu, family)),
      tick_s_(gpu.replay_tick_s),
      phase_s_(replay_phase_s(family.framework, gpu.replay_tick_s)) {}

const std::vector<ConstantSpec>& AttentionTimeModel::constants() const {
  return std::visit([](const auto& k) -> const std::vector<ConstantSpec>& { return k.constants(); },
                    kernel_);
}

double AttentionTimeModel::seconds(const AttentionShape& shape, std::span<const double> values,
                                   CacheState cache) const {
  return std::visit([&](const auto& k) { return k.time(k.work(shape), values, cache).seconds; },
                    kernel_);
}

TimeParts AttentionTimeModel::parts(const AttentionShape& shape, std::span<const double> values,
                                    CacheState cache) const {
  return std::visit(
      [&](const auto& k) {
        const auto work = k.work(shape);
        return to_parts(k.time(work, values, cache), work.splits);
      },
      kernel_);
}

double AttentionTimeModel::reading_s(double kernel_seconds) const {
  return replay_reading_s(kernel_seconds, tick_s_, phase_s_);
}

double AttentionTimeModel::smooth_reading_s(double kernel_seconds) const {
  return smooth_replay_reading_s(kernel_seconds, tick_s_, phase_s_);
}

double AttentionTimeModel::ragged_s(std::span<const double> kv_tokens, const AttentionShape& shape,
                                    std::span<const double> values, CacheState cache) const {
  if (kv_tokens.empty()) return 0;
  const double total = std::accumulate(kv_tokens.begin(), kv_tokens.end(), 0.0);
  AttentionShape uniform = shape;
  uniform.batch = static_cast<double>(kv_tokens.size());
  uniform.kv_tokens = total / uniform.batch;
  const double base = seconds(uniform, values, cache);
  const auto [low, high] = std::minmax_element(kv_tokens.begin(), kv_tokens.end());
  if (*low == *high) return base;
  const std::vector<double> equal(kv_tokens.size(), uniform.kv_tokens);
  const auto ratio = [&](const auto& kernel) {
    return batch_makespan_s(kernel, kv_tokens, uniform, values, cache) /
           batch_makespan_s(kernel, equal, uniform, values, cache);
  };
  if (const auto* fa2 = std::get_if<FlashAttention2>(&kernel_)) return base * ratio(*fa2);
  if (const auto* fa3 = std::get_if<FlashAttention3>(&kernel_)) return base * ratio(*fa3);
  return base;
}

}  // namespace smtwin

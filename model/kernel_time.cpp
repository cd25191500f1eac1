// SPDX-License-Identifier: Apache-2.0
// The arithmetic of kernel time version 1: one function for each term of the equation in the
// header, in the order of MODEL.md section 3. No text is built here, so that a search can ask a
// million times a second. Every GPU number comes through require(), and only when the kernel has
// work for it.
#include "model/kernel_time.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "arch/units.hpp"
#include "model/littles_law.hpp"
#include "model/math_pipe.hpp"

namespace smtwin {
namespace {

constexpr std::size_t index(Bound bound) { return static_cast<std::size_t>(bound); }

Bound largest(const std::array<double, kBoundCount>& seconds) {
  return static_cast<Bound>(
      std::distance(seconds.begin(), std::max_element(seconds.begin(), seconds.end())));
}

// Saturating: grids come from sizes that users type.
std::int64_t ctas_of(const Grid& grid) {
  return saturating_mul(saturating_mul(grid.x, grid.y), grid.z);
}

// Seconds that one CTA keeps each resource of its SM busy at the resource's full rate.
struct CtaSeconds {
  double tensor = 0;
  double fp32 = 0;
  double sfu = 0;
  double shared_memory = 0;
  double issue = 0;
};

CtaSeconds cta_seconds(const GpuSpec& gpu, const KernelInstance& kernel, double clock_hz) {
  const CtaWork& work = kernel.work;
  const auto busy = [&](double amount, const std::optional<double>& rate, const char* path) {
    return amount > 0 ? amount / (require(gpu, rate, path) * clock_hz) : 0.0;
  };
  CtaSeconds s;
  double fp32_flops = work.fp32_flops;
  if (kernel.pipe == MathPipe::fp32) {
    fp32_flops += work.math_flops;
  } else if (kernel.pipe != MathPipe::none) {
    const PipeRate pipe = tensor_rate(gpu.rates, kernel.pipe);
    s.tensor = busy(work.math_flops, *pipe.flops_per_cycle, pipe.path);
  }
  s.fp32 = busy(fp32_flops, gpu.rates.fp32_flops_per_cycle, "rates.fp32_flops_per_cycle");
  s.sfu = busy(work.sfu_ops, gpu.rates.sfu_ops_per_cycle, "rates.sfu_ops_per_cycle");
  s.shared_memory =
      busy(work.shared_bytes, gpu.rates.shared_bytes_per_cycle, "rates.shared_bytes_per_cycle");
  s.issue = busy(work.warp_instructions, gpu.rates.warp_instructions_per_cycle,
                 "rates.warp_instructions_per_cycle");
  return s;
}

// The pipeline of one CTA: how often it waits for memory, and what it keeps in flight meanwhile.
struct Pipeline {
  double waits = 0;            // read latencies one after the other, first fill included
  double bytes_in_flight = 0;  // of one CTA
  bool overlaps = true;        // the next step loads while this one computes
};

Pipeline pipeline_of(const SmSpec& sm, const KernelInstance& kernel, int warps_per_cta,
                     const KernelTimeConstants& constants) {
  const CtaWork& work = kernel.work;
  Pipeline p;
  p.overlaps = work.loads_in_flight > 0;
  const double steps = std::max(work.steps, 1.0);
  // A CTA of two steps cannot have three outstanding; without any overlap it still has one.
  const double loads = std::clamp(work.loads_in_flight, 1.0, steps);
  p.waits = 1 + steps / loads;
  p.bytes_in_flight = work.step_read_bytes > 0 ? work.step_read_bytes * loads
                                               : constants.fallback_bytes_in_flight_per_lane *
                                                     sm.threads_per_warp * warps_per_cta;
  return p;
}

// Everything about the kernel and the GPU that does not change from wave to wave.
struct WaveModel {
  int sm_count = 0;
  int partitions = 1;
  int warps_per_cta = 1;
  CtaSeconds cta;
  Pipeline pipeline;
  MemoryPath l2;
  MemoryPath dram;
  TransferBytes l2_bytes_per_cta;
  TransferBytes dram_bytes_per_cta;
  double read_latency_s = 0;
};

WaveTime wave_time(const WaveModel& m, std::int64_t ctas, std::int64_t count) {
  WaveTime w;
  if (count == 0) return w;
  w.count = count;
  w.ctas = ctas;
  w.ctas_on_busiest_sm = ceil_div<std::int64_t>(ctas, m.sm_count);
  const auto on_busiest = static_cast<double>(w.ctas_on_busiest_sm);
  const auto in_wave = static_cast<double>(ctas);
  // A partition has its own scheduler and pipes; without a warp it contributes nothing. Assumed:
  // one warp per partition is enough (bf16 mma on an H200: 87 % of the best rate with 4 warps).
  w.pipe_share = std::min(1.0, on_busiest * m.warps_per_cta / m.partitions);
  w.bytes_in_flight = in_wave * m.pipeline.bytes_in_flight;

  auto& t = w.bound_seconds;
  t[index(Bound::tensor)] = on_busiest * m.cta.tensor / w.pipe_share;
  t[index(Bound::fp32)] = on_busiest * m.cta.fp32 / w.pipe_share;
  t[index(Bound::sfu)] = on_busiest * m.cta.sfu / w.pipe_share;
  t[index(Bound::issue)] = on_busiest * m.cta.issue / w.pipe_share;
  // All partitions share one path to shared memory, and one warp can use it fully.
  t[index(Bound::shared_memory)] = on_busiest * m.cta.shared_memory;

  const TransferBytes l2{in_wave * m.l2_bytes_per_cta.read, in_wave * m.l2_bytes_per_cta.written};
  const TransferBytes dram{in_wave * m.dram_bytes_per_cta.read,
                           in_wave * m.dram_bytes_per_cta.written};
  const TransferTime l2_time = transfer_time(m.l2, l2, w.bytes_in_flight);
  const TransferTime dram_time = transfer_time(m.dram, dram, w.bytes_in_flight);
  t[index(Bound::l2)] = l2_time.seconds;
  t[index(Bound::dram)] = dram_time.seconds;
  w.l2_starved = l2_time.starved;
  w.dram_starved = dram_time.starved;

  // The chain of one CTA; those beside it on the SM wait at the same time.
  if (m.l2_bytes_per_cta.read > 0) {
    double chain = m.pipeline.waits * m.read_latency_s;
    if (!m.pipeline.overlaps) {
      const double alone = std::min(1.0, static_cast<double>(m.warps_per_cta) / m.partitions);
      chain += std::max(std::max({m.cta.tensor, m.cta.fp32, m.cta.sfu, m.cta.issue}) / alone,
                        m.cta.shared_memory);
    }
    t[index(Bound::latency)] = chain;
  }
  w.binding = largest(t);
  w.seconds = t[index(w.binding)];
  return w;
}

}  // namespace

UnmeasuredErrors kernel_model_errors(const UnmeasuredErrors& of_families,
                                     const UnmeasuredErrors& own) {
  return {.low = std::min(own.low, of_families.low), .high = std::max(own.high, of_families.high)};
}

MemoryTraffic memory_traffic(const GpuSpec& gpu, const KernelInstance& kernel,
                             const KernelTimeOptions& options) {
  const auto ctas = static_cast<double>(ctas_of(kernel.grid));
  MemoryTraffic t;
  t.read_bytes = ctas * kernel.work.global_read_bytes;
  t.write_bytes = ctas * kernel.work.global_write_bytes;
  // A descriptor that does not say how much is shared between CTAs shares nothing.
  const auto unique_of = [](double unique, double asked) {
    return unique > 0 ? std::min(unique, asked) : asked;
  };
  const double unique_read = unique_of(kernel.unique_read_bytes, t.read_bytes);
  const double unique_write = unique_of(kernel.unique_write_bytes, t.write_bytes);
  t.unique_bytes = unique_read + unique_write;
  // A replay comes round to the first byte when all others have passed: a sharp threshold.
  if (options.l2 == L2State::warm && t.unique_bytes > 0) {
    const double l2_bytes = require(gpu, gpu.l2_bytes, "l2_bytes");
    t.first_touch_hit =
        1 / (1 + std::pow(t.unique_bytes / l2_bytes, options.constants.l2_sharpness));
  }
  // CTAs that want the same byte run side by side (activations of a GEMM row, the tokens of head
  // groups) and ask for it at about the same time: repeats never reach the DRAM.
  t.dram_read_bytes = unique_read * (1 - t.first_touch_hit);
  t.dram_write_bytes = unique_write * (1 - t.first_touch_hit);
  return t;
}

KernelSeconds kernel_seconds(const GpuSpec& gpu, const KernelInstance& kernel,
                             const KernelTimeOptions& options) {
  KernelSeconds r;
  r.resident = resident_ctas(gpu.sm, kernel.resources);
  if (refused_outside_sm(gpu.sm, kernel.resources)) r.resident.ctas_per_sm = 0;
  if (!kernel.impossible.empty() || r.resident.ctas_per_sm <= 0 || ctas_of(kernel.grid) <= 0) {
    return r;
  }
  r.runs = true;
  const double clock_hz = require(gpu, gpu.sm_clock_hz, "sm_clock_hz");

  WaveModel m;
  m.sm_count = require(gpu, gpu.sm_count, "sm_count");
  r.waves = fill_waves(ctas_of(kernel.grid), m.sm_count, r.resident.ctas_per_sm);
  m.partitions = std::max(gpu.sm.partitions_per_sm, 1);
  m.warps_per_cta = ceil_div(kernel.resources.threads_per_cta, gpu.sm.threads_per_warp);
  m.cta = cta_seconds(gpu, kernel, clock_hz);
  m.pipeline = pipeline_of(gpu.sm, kernel, m.warps_per_cta, options.constants);
  r.traffic = memory_traffic(gpu, kernel, options);
  m.l2 = {require(gpu, gpu.l2_bytes_per_s, "l2_bytes_per_s"),
          require(gpu, gpu.l2_latency_cycles, "l2_latency_cycles") / clock_hz};
  m.dram = {require(gpu, gpu.dram_bytes_per_s, "dram_bytes_per_s") *
                require(gpu, gpu.dram_read_efficiency, "dram_read_efficiency"),
            require(gpu, gpu.dram_latency_cycles, "dram_latency_cycles") / clock_hz};
  const auto ctas = static_cast<double>(ctas_of(kernel.grid));
  m.l2_bytes_per_cta = {kernel.work.global_read_bytes, kernel.work.global_write_bytes};
  m.dram_bytes_per_cta = {r.traffic.dram_read_bytes / ctas, r.traffic.dram_write_bytes / ctas};
  // A step waits for its slowest line: the DRAM, unless a replay finds first touches in the L2.
  m.read_latency_s = r.traffic.first_touch_hit * m.l2.latency_s +
                     (1 - r.traffic.first_touch_hit) * m.dram.latency_s;

  r.read_latency_s = m.read_latency_s;
  r.l2_latency_s = m.l2.latency_s;
  r.cta_bytes_in_flight = m.pipeline.bytes_in_flight;
  r.full = wave_time(m, r.waves.slots, r.waves.full_waves);
  r.tail = wave_time(m, r.waves.tail_ctas, r.waves.tail_ctas > 0 ? 1 : 0);

  r.launch_gap_s = options.launch == LaunchMode::graph
                       ? require(gpu, gpu.graph_node_gap_s, "graph_node_gap_s")
                       : require(gpu, gpu.stream_launch_gap_s, "stream_launch_gap_s");
  // Prologue and epilogue: the first read of the kernel (its arguments) before any CTA has work,
  // and the last store on its way to the L2.
  const double fixed = r.launch_gap_s + r.read_latency_s + r.l2_latency_s;
  const auto full_count = static_cast<double>(r.full.count);
  for (std::size_t b = 0; b < kBoundCount; ++b) {
    r.bound_seconds[b] = full_count * r.full.bound_seconds[b] + r.tail.bound_seconds[b];
  }
  r.bound_seconds[index(Bound::launch)] = fixed;
  r.seconds = fixed + full_count * r.full.seconds + r.tail.seconds;
  r.binding = largest(r.bound_seconds);
  return r;
}

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::launch:
      return "launch";
    case Bound::tensor:
      return "tensor";
    case Bound::fp32:
      return "fp32";
    case Bound::sfu:
      return "sfu";
    case Bound::shared_memory:
      return "shared_memory";
    case Bound::issue:
      return "issue";
    case Bound::l2:
      return "l2";
    case Bound::dram:
      return "dram";
    case Bound::latency:
      return "latency";
  }
  return "unknown";
}

}  // namespace smtwin

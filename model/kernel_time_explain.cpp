// SPDX-License-Identifier: Apache-2.0
// The explained kernel time: the numbers of kernel_seconds() with the equation behind each bound,
// where its inputs come from, and the full residency answer.
// A sample of what the equations look like:
//   dram     (19.2 MB read + 4.2 MB written) / (1.60 TB/s x 0.96) = 15.2 us
//   latency  2 waves x (1 first fill + 8 steps / 1 in flight) x 356 ns = 6.40 us
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "model/kernel_time.hpp"
#include "model/littles_law.hpp"
#include "model/math_pipe.hpp"
#include "model/quantity_text.hpp"

namespace smtwin {
namespace {

constexpr std::size_t index(Bound bound) { return static_cast<std::size_t>(bound); }

Provenance weakest(const GpuSpec& gpu, std::initializer_list<const char*> paths) {
  Provenance p = Provenance::datasheet;
  for (const char* path : paths) p = weaker(p, provenance_of(gpu, path));
  return p;
}

struct Explainer {
  const GpuSpec& gpu;
  const KernelInstance& kernel;
  const KernelTimeOptions& options;
  const KernelSeconds& s;

  bool some_pipes_idle() const {
    return (s.full.count > 0 && s.full.pipe_share < 1) ||
           (s.tail.count > 0 && s.tail.pipe_share < 1);
  }

  bool starved(Bound memory, const WaveTime& w) const {
    return memory == Bound::l2 ? w.l2_starved : w.dram_starved;
  }
  bool starved(Bound memory) const { return starved(memory, s.full) || starved(memory, s.tail); }

  // First touches that the L2 might still hold.
  bool l2_state_is_a_guess() const { return s.traffic.first_touch_hit > 0; }

  // The L2 serves repeats of a working set that it cannot hold as a whole.
  bool repeats_beyond_l2() const {
    return s.traffic.read_bytes + s.traffic.write_bytes > s.traffic.unique_bytes && gpu.l2_bytes &&
           s.traffic.unique_bytes > *gpu.l2_bytes;
  }

  // "3 x " before what three waves take each; nothing before a single one.
  static std::string times(const WaveTime& w, const std::string& one_wave) {
    return w.count > 1 ? concat({count_text(static_cast<double>(w.count)), " x ", one_wave})
                       : one_wave;
  }

  // Full waves and tail, whichever exist: "full", "tail", "full + tail".
  template <typename TextOfWave>
  std::string sum_of_waves(TextOfWave text) const {
    if (s.tail.count == 0) return text(s.full);
    if (s.full.count == 0) return text(s.tail);
    return concat({text(s.full), " + ", text(s.tail)});
  }

  bool sums() const { return s.full.count > 0 && s.tail.count > 0; }

  // "(3 x 2 + 1) CTAs": those that the busiest SM works through, wave after wave. A wave that
  // leaves partitions idle counts more: "/ 0.25".
  std::string busiest_ctas(bool pipes) const {
    const std::string sum = sum_of_waves([&](const WaveTime& w) {
      std::string ctas = count_text(static_cast<double>(w.ctas_on_busiest_sm));
      if (pipes && w.pipe_share < 1) ctas += concat({" / ", count_text(w.pipe_share)});
      return times(w, ctas);
    });
    return concat({sums() ? "(" : "", sum, sums() ? ")" : "", " CTAs on the busiest SM"});
  }

  struct SmWork {
    std::string amount;  // of one CTA, with its unit
    std::string rate;    // per cycle, with its unit
    const char* path;    // of the rate
  };
  BoundTime on_sm(Bound bound, const SmWork& work) const {
    const bool pipes = bound != Bound::shared_memory;
    Provenance p = weakest(gpu, {work.path, "sm_clock_hz", "sm_count"});
    if (pipes && some_pipes_idle()) p = weaker(p, Provenance::assumed);
    return {bound, s.bound_seconds[index(bound)],
            concat({busiest_ctas(pipes), " x ", work.amount, " / (", work.rate, " x ",
                    quantity_text(*gpu.sm_clock_hz, "Hz"), ")"}),
            p};
  }
  static std::string rate_text(const std::optional<double>& per_cycle, const char* unit) {
    return concat({count_text(*per_cycle), " ", unit, "/cycle"});
  }

  // At the peak for all waves, or wave by wave where the bytes in flight limit one of them.
  std::string transfer(Bound memory, const TransferBytes& bytes, const MemoryPath& path,
                       const std::string& peak_text) const {
    if (!starved(memory)) {
      const std::string writes =
          bytes.written > 0 ? concat({" + ", quantity_text(bytes.written, "B"), " written"}) : "";
      return concat({"(", quantity_text(bytes.read, "B"), " read", writes, ") / ", peak_text});
    }
    const std::string sum = sum_of_waves([&](const WaveTime& w) {
      const double share = static_cast<double>(w.ctas) / static_cast<double>(s.waves.ctas);
      if (!starved(memory, w)) {
        const double moved = share * (bytes.read + bytes.written);
        return times(w, concat({quantity_text(moved, "B"), " / ", peak_text}));
      }
      return times(w, concat({quantity_text(share * bytes.read, "B"), " read x ",
                              quantity_text(path.latency_s, "s"), " / ",
                              quantity_text(w.bytes_in_flight, "B"), " in flight"}));
    });
    return concat({sum, " (the peak needs ", quantity_text(bytes_in_flight_for_peak(path), "B"),
                   " in flight)"});
  }

  MemoryPath dram_path() const {
    return {*gpu.dram_bytes_per_s * *gpu.dram_read_efficiency,
            *gpu.dram_latency_cycles / *gpu.sm_clock_hz};
  }

  BoundTime launch() const {
    const bool graph = options.launch == LaunchMode::graph;
    Provenance p = weakest(gpu, {graph ? "graph_node_gap_s" : "stream_launch_gap_s", "sm_clock_hz",
                                 "dram_latency_cycles", "l2_latency_cycles"});
    if (s.traffic.first_touch_hit > 0) p = weaker(p, Provenance::assumed);
    return {Bound::launch, s.bound_seconds[index(Bound::launch)],
            concat({quantity_text(s.launch_gap_s, "s"),
                    graph ? " graph node gap + " : " stream launch gap + ",
                    quantity_text(s.read_latency_s, "s"), " first read + ",
                    quantity_text(s.l2_latency_s, "s"), " last store"}),
            p};
  }

  BoundTime l2() const {
    Provenance p = weakest(gpu, {"l2_bytes_per_s"});
    if (starved(Bound::l2)) p = weaker(p, weakest(gpu, {"l2_latency_cycles", "sm_clock_hz"}));
    return {
        Bound::l2, s.bound_seconds[index(Bound::l2)],
        transfer(Bound::l2, {s.traffic.read_bytes, s.traffic.write_bytes},
                 {*gpu.l2_bytes_per_s, s.l2_latency_s}, quantity_text(*gpu.l2_bytes_per_s, "B/s")),
        p};
  }

  BoundTime dram() const {
    Provenance p = weakest(gpu, {"dram_bytes_per_s", "dram_read_efficiency"});
    if (starved(Bound::dram)) p = weaker(p, weakest(gpu, {"dram_latency_cycles", "sm_clock_hz"}));
    if (l2_state_is_a_guess()) p = weaker(p, Provenance::assumed);
    return {
        Bound::dram, s.bound_seconds[index(Bound::dram)],
        transfer(Bound::dram, {s.traffic.dram_read_bytes, s.traffic.dram_write_bytes}, dram_path(),
                 concat({"(", quantity_text(*gpu.dram_bytes_per_s, "B/s"), " x ",
                         count_text(*gpu.dram_read_efficiency), ")"})),
        p};
  }

  BoundTime latency() const {
    Provenance p = weakest(gpu, {"dram_latency_cycles", "sm_clock_hz"});
    if (s.traffic.first_touch_hit > 0) {
      p = weaker(p, weaker(Provenance::assumed, weakest(gpu, {"l2_latency_cycles"})));
    }
    const double steps = std::max(kernel.work.steps, 1.0);
    const bool overlaps = kernel.work.loads_in_flight > 0;
    const double waves = static_cast<double>(s.full.count + s.tail.count);
    std::string chain = concat({"(1 first fill + ", count_text(steps), " steps / ",
                                count_text(std::clamp(kernel.work.loads_in_flight, 1.0, steps)),
                                " in flight) x ", quantity_text(s.read_latency_s, "s")});
    if (!overlaps) chain = concat({"(", chain, " + the compute of one CTA, not overlapped)"});
    if (waves > 1) chain = concat({count_text(waves), " waves x ", chain});
    return {Bound::latency, s.bound_seconds[index(Bound::latency)], chain, p};
  }

  BoundTime explain(Bound bound) const {
    const CtaWork& w = kernel.work;
    const SmRates& r = gpu.rates;
    switch (bound) {
      case Bound::tensor: {
        const PipeRate pipe = tensor_rate(r, kernel.pipe);
        return on_sm(bound, {quantity_text(w.math_flops, "flop"),
                             rate_text(*pipe.flops_per_cycle, "flop"), pipe.path});
      }
      case Bound::fp32:
        return on_sm(
            bound, {quantity_text(w.fp32_flops + (kernel.pipe == MathPipe::fp32 ? w.math_flops : 0),
                                  "flop"),
                    rate_text(r.fp32_flops_per_cycle, "flop"), "rates.fp32_flops_per_cycle"});
      case Bound::sfu:
        return on_sm(bound,
                     {count_text(w.sfu_ops) + " operations",
                      rate_text(r.sfu_ops_per_cycle, "operations"), "rates.sfu_ops_per_cycle"});
      case Bound::shared_memory:
        return on_sm(bound,
                     {quantity_text(w.shared_bytes, "B"), rate_text(r.shared_bytes_per_cycle, "B"),
                      "rates.shared_bytes_per_cycle"});
      case Bound::issue:
        return on_sm(bound, {count_text(w.warp_instructions) + " warp instructions",
                             rate_text(r.warp_instructions_per_cycle, "instructions"),
                             "rates.warp_instructions_per_cycle"});
      case Bound::l2:
        return l2();
      case Bound::dram:
        return dram();
      case Bound::latency:
        return latency();
      case Bound::launch:
        break;
    }
    return launch();
  }

  // How many CTAs are resident decides every bound, so a guessed register or shared-memory count
  // weakens all of them where it is what limits.
  Provenance residency_provenance() const {
    Provenance p = Provenance::datasheet;
    if (s.resident.limiters.contains(Limiter::registers)) p = kernel.registers_provenance;
    if (s.resident.limiters.contains(Limiter::shared_memory)) {
      p = weaker(p, kernel.shared_provenance);
    }
    return p;
  }

  std::vector<std::string> assumptions() const {
    std::vector<std::string> a;
    if (some_pipes_idle()) {
      a.emplace_back(
          "a partition without a warp idles, and one warp per partition reaches the full rate");
    }
    if (kernel.work.step_read_bytes <= 0 && kernel.work.global_read_bytes > 0) {
      a.push_back(concat({"the kernel's loads in flight are not counted: ",
                          count_text(options.constants.fallback_bytes_in_flight_per_lane),
                          " B per lane of every resident warp"}));
    }
    if (kernel.work.warp_instructions <= 0) {
      a.emplace_back("issue slots are not counted for this kernel");
    }
    if (options.l2 == L2State::warm && s.traffic.read_bytes + s.traffic.write_bytes > 0) {
      a.push_back(concat({"a replay finds 1 / (1 + (working set / L2)^",
                          count_text(options.constants.l2_sharpness), ") of its bytes in the L2"}));
    }
    if (repeats_beyond_l2()) {
      a.emplace_back(
          "CTAs that read the same bytes run side by side and find them in the L2, although the "
          "whole set exceeds it");
    }
    if (kernel.work.loads_in_flight <= 0) {
      a.emplace_back("without a second stage a CTA computes only after its own load arrived");
    }
    a.emplace_back("the terms of kernel time version 1 are not calibrated on any GPU");
    return a;
  }
};

}  // namespace

KernelTime kernel_time(const GpuSpec& gpu, const KernelInstance& kernel,
                       const KernelTimeOptions& options) {
  const KernelSeconds s = kernel_seconds(gpu, kernel, options);
  KernelTime t;
  t.residency = residency(gpu, kernel.resources);
  t.runs = s.runs;
  if (!s.runs) return t;
  t.seconds = s.seconds;
  t.binding = s.binding;
  t.waves = s.waves;
  t.full = s.full;
  t.tail = s.tail;
  t.dram_bytes = s.traffic.dram_read_bytes + s.traffic.dram_write_bytes;
  t.l2_bytes = s.traffic.read_bytes + s.traffic.write_bytes;
  t.bytes_in_flight = s.full.count > 0 ? s.full.bytes_in_flight : s.tail.bytes_in_flight;
  if (s.traffic.read_bytes > 0) {
    t.l2_hit = 1 - s.traffic.dram_read_bytes / s.traffic.read_bytes;
  }

  if (options.unmeasured) t.interval = options.unmeasured->around(t.seconds);
  const Explainer explainer{gpu, kernel, options, s};
  t.bytes_in_flight_for_dram_peak = bytes_in_flight_for_peak(explainer.dram_path());
  for (std::size_t b = 0; b < kBoundCount; ++b) {
    if (s.bound_seconds[b] <= 0) continue;
    BoundTime bound = explainer.explain(static_cast<Bound>(b));
    bound.equation = concat({bound.equation, " = ", quantity_text(bound.seconds, "s")});
    bound.provenance = weaker(bound.provenance, explainer.residency_provenance());
    // However well the inputs are known, the equations that join them are not calibrated.
    if (bound.bound == t.binding) t.provenance = weaker(bound.provenance, Provenance::assumed);
    t.bounds.push_back(std::move(bound));
  }
  std::stable_sort(t.bounds.begin(), t.bounds.end(),
                   [](const BoundTime& a, const BoundTime& b) { return a.seconds > b.seconds; });
  t.assumptions = explainer.assumptions();
  return t;
}

}  // namespace smtwin

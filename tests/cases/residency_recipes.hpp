// SPDX-License-Identifier: Apache-2.0
// Reports about resident CTAs, registers, clusters and the waves of a grid.
#pragma once

#include <set>

#include "arch/gpu_catalog.hpp"
#include "model/kernel_time.hpp"
#include "tests/cases/ask.hpp"

namespace smtwin::cases {

// Threads, registers and bytes of a report as flags.
inline std::vector<std::string> resource_flags(const Json& numbers) {
  std::vector<std::string> flags;
  const auto add = [&](const char* name, const char* flag, const char* unit) {
    if (!numbers.contains(name)) return;
    flags.insert(flags.end(), {flag, text_of(numbers.at(name)) + unit});
  };
  add("threads", "--threads", "");
  add("regs", "--regs", "");
  add("smem", "--smem", "");
  add("dyn_smem", "--smem", "");
  add("dyn_smem_kb", "--smem", "KiB");
  return flags;
}

inline std::set<std::string> limiter_names(const Json& names) {
  std::set<std::string> found;
  for (const Json& name : names) {
    found.insert(name == "smem" ? "shared_memory" : name.get<std::string>());
  }
  return found;
}

inline void check_residency(const Json& got, const Json& expect) {
  INFO(got.dump());
  if (expect.contains("blocks")) CHECK(got.at("ctas_per_sm") == expect.at("blocks"));
  // The count that a division without the hardware's rounding gives: reported as wrong.
  if (expect.contains("naive_blocks")) CHECK(got.at("ctas_per_sm") != expect.at("naive_blocks"));
  if (expect.contains("occupancy")) {
    CHECK(got.at("theoretical_occupancy").get<double>() ==
          Approx(expect.at("occupancy").get<double>()));
  }
  if (expect.contains("limiters")) {
    CHECK(limiter_names(got.at("limiters")) == limiter_names(expect.at("limiters")));
  }
  if (expect.contains("launches")) CHECK(got.at("launches") == expect.at("launches"));
  if (expect.contains("max_threads")) {
    CHECK(got.at("cta").at("max_threads_at_these_registers") == expect.at("max_threads"));
  }
}

inline void resident_ctas_of_report(const Json& report) {
  for (const std::string& gpu : gpus_of(report)) {
    INFO(gpu);
    check_residency(occupancy(gpu, resource_flags(report.at("numbers"))), report.at("expect"));
  }
}

// Registers alone are reported: the answer must not depend on the block size.
inline void occupancy_by_registers(const Json& report) {
  for (const auto& [compute_capability, occupied] : report.at("expect").at("occupancy").items()) {
    for (const char* threads : {"64", "128", "256"}) {
      INFO(compute_capability << ", " << threads << " threads");
      check_residency(
          occupancy(generic_gpu(compute_capability),
                    {"--threads", threads, "--regs", text_of(report.at("numbers").at("regs"))}),
          {{"occupancy", occupied}});
    }
  }
}

// `launches` is an answer a block size.
inline void launches_by_threads(const Json& report) {
  const Json& expect = report.at("expect");
  for (const std::string& gpu : gpus_of(report)) {
    for (const auto& [threads, launches] : expect.at("launches").items()) {
      const Json got = occupancy(
          gpu, {"--threads", threads, "--regs", text_of(report.at("numbers").at("regs"))});
      check_residency(got, {{"launches", launches}, {"max_threads", expect.at("max_threads")}});
    }
  }
}

// Two variants of one kernel with the same block size.
inline void variants(const Json& report) {
  const Json& expect = report.at("expect");
  for (const auto& [variant, blocks] : expect.at("blocks").items()) {
    Json numbers = report.at("numbers").at(variant);
    numbers["threads"] = report.at("numbers").at("threads");
    for (const std::string& gpu : gpus_of(report)) {
      INFO(variant << " on " << gpu);
      check_residency(occupancy(gpu, resource_flags(numbers)),
                      {{"blocks", blocks}, {"limiters", {expect.at("limiter")}}});
    }
  }
}

// A kernel with more warps than a CTA may have.
inline void too_many_warps(const Json& report) {
  const Json& numbers = report.at("numbers");
  for (const std::string& gpu : gpus_of(report)) {
    const Json got = occupancy(gpu, {"--kernel", "triton_gemm", "--num-warps",
                                     text_of(numbers.at("num_warps")), "--regs", "32"});
    INFO(got.dump());
    CHECK(got.at("cta").at("threads") == numbers.at("threads"));
    CHECK(got.at("launches") == report.at("expect").at("launches"));
    const std::int64_t threads_per_warp =
        integer(numbers.at("threads")) / integer(numbers.at("num_warps"));
    CHECK(integer(got.at("cta").at("max_threads_at_these_registers")) / threads_per_warp ==
          report.at("expect").at("max_num_warps"));
  }
}

// The limit that refuses the launch is the function's, not the chip's.
inline void function_limit(const Json& report) {
  const Json& numbers = report.at("numbers");
  for (const std::string& gpu : gpus_of(report)) {
    const Json got = occupancy(gpu, {"--threads", text_of(numbers.at("threads")), "--max-threads",
                                     text_of(numbers.at("limit"))});
    CHECK(got.at("launches") == report.at("expect").at("launches"));
    CHECK(report.at("expect").at("limit_source") == "function attribute");
    CHECK(got.at("verdict") == "threads_exceed_function_limit");
  }
}

inline std::string cluster_text(const Json& cluster) {
  if (!cluster.is_array()) return text_of(cluster);
  std::string text;
  for (const Json& edge : cluster) {
    if (!text.empty()) text += 'x';
    text += text_of(edge);
  }
  return text;
}

inline void clusters(const Json& report) {
  const Json& expect = report.at("expect");
  std::vector<std::string> flags = resource_flags(report.at("numbers"));
  if (!report.at("numbers").contains("threads")) flags.insert(flags.end(), {"--threads", "128"});
  flags.insert(flags.end(), {"--cluster", cluster_text(report.at("numbers").at("cluster"))});
  for (const std::string& gpu : gpus_of(report)) {
    const Json got = occupancy(gpu, flags);
    INFO(got.dump());
    if (expect.contains("portable_max")) {
      CHECK(got.at("cluster").at("max_portable_ctas") == expect.at("portable_max"));
      CHECK(got.at("cluster").at("portable") == false);
    }
    if (expect.contains("valid")) CHECK(got.at("launches") == expect.at("valid"));
    if (expect.contains("error_class")) {
      CHECK(expect.at("error_class") == "not smem");
      CHECK(got.at("shared_memory").at("over_limit_bytes") == 0);
      CHECK(got.at("ctas_per_sm") == report.at("numbers").at("max_active_blocks"));
    }
  }
}

// More bytes than this force one CTA per SM: the next step of a CTA that takes all it can.
inline void one_cta_threshold(const Json& report) {
  for (const auto& [compute_capability, bytes] : report.at("expect").at("threshold").items()) {
    const std::string gpu = generic_gpu(compute_capability);
    const std::string most =
        text_of(occupancy(gpu, {"--smem", "0"}).at("shared_memory").at("opt_in_limit_bytes"));
    const Json got = occupancy(gpu, {"--smem", most});
    INFO(got.dump());
    CHECK(got.at("ctas_per_sm") == 1);
    const Json& step = got.at("next_steps").at(0);
    CHECK(step.at("ctas_per_sm") == 2);
    CHECK(step.at("needs").at(0).at("at_most") == bytes);
  }
}

inline void grid_on_the_gpu(const Json& report) {
  const Json& numbers = report.at("numbers");
  const GpuSpec gpu = find_gpu(report.at("gpu").get<std::string>());
  REQUIRE(gpu.sm_count.has_value());
  CHECK(*gpu.sm_count == numbers.at("SMs"));
  const Waves waves = fill_waves(integer(numbers.at("grid").at(0)), *gpu.sm_count,
                                 static_cast<int>(integer(numbers.at("blocks_per_sm"))));
  // Reported to three digits.
  CHECK(waves.waves ==
        Approx(report.at("expect").at("resident_fraction").get<double>()).margin(0.0005));
}

inline void wave_boundary(const Json& report) {
  const Json& numbers = report.at("numbers");
  const GpuSpec gpu = find_gpu("rtx-5060-ti");
  const std::int64_t boundary = integer(report.at("expect").at("wave_boundary"));
  const int ctas_per_sm = static_cast<int>(integer(numbers.at("warps16_blocks")));
  REQUIRE(gpu.sm_count.has_value());
  CHECK(fill_waves(boundary, *gpu.sm_count, ctas_per_sm).waves == 1.0);
  CHECK(fill_waves(boundary, *gpu.sm_count, ctas_per_sm).slots == boundary);
  CHECK(fill_waves(boundary + 1, *gpu.sm_count, ctas_per_sm).waves > 1.0);
}

}  // namespace smtwin::cases

// SPDX-License-Identifier: Apache-2.0
// Reports of shared memory that does not fit: the bytes are reported, summed from reported buffers,
// or follow from a tile that a descriptor knows.
#pragma once

#include "tests/cases/ask.hpp"

namespace smtwin::cases {

// The answer for `bytes` agrees with what a report expects: fits or not, the limit, and by how
// much.
inline void check_bytes(const std::string& gpu, std::int64_t bytes, const Json& expect) {
  const Json got = occupancy(gpu, {"--smem", std::to_string(bytes)});
  INFO(gpu << ", " << bytes << " B: " << got.dump());
  const Json& memory = got.at("shared_memory");
  if (expect.contains("fits")) CHECK(got.at("launches") == expect.at("fits"));
  for (const char* required : {"required", "required_at_least"}) {
    if (expect.contains(required)) {
      CHECK(got.at("cta").at("shared_bytes_requested") == expect.at(required));
    }
  }
  if (expect.contains("limit")) {
    CHECK(memory.at("limit_bytes") == expect.at("limit"));
    CHECK(memory.at("over_limit_bytes") ==
          std::max<std::int64_t>(0, bytes - integer(expect.at("limit"))));
  }
  if (expect.contains("sm120_limit")) {
    CHECK(occupancy("sm-120", {"--smem", std::to_string(bytes)})
              .at("shared_memory")
              .at("limit_bytes") == expect.at("sm120_limit"));
  }
}

// `fits` may be one answer for all chips of the report or an answer a compute capability.
inline void check_bytes_everywhere(const Json& report, std::int64_t bytes) {
  const Json& expect = report.at("expect");
  if (expect.at("fits").is_object()) {
    for (const auto& [compute_capability, fits] : expect.at("fits").items()) {
      Json one = expect;
      one["fits"] = fits;
      check_bytes(generic_gpu(compute_capability), bytes, one);
    }
    return;
  }
  for (const std::string& gpu : gpus_of(report)) check_bytes(gpu, bytes, expect);
}

// The reported size, and the smaller one that the report suggests where it names its bytes.
inline void reported_bytes(const Json& report) {
  const Json& numbers = report.at("numbers");
  for (const char* name : {"required_bytes", "static_sum_bytes"}) {
    if (numbers.contains(name)) check_bytes_everywhere(report, integer(numbers.at(name)));
  }
  const Json& expect = report.at("expect");
  if (!expect.contains("suggest")) return;
  const Json& suggest = expect.at("suggest");
  for (const std::string& gpu : gpus_of(report)) {
    check_bytes(gpu, integer(suggest.at("required")), suggest);
  }
}

// Attention forward in Triton before Hopper keeps Q, K, V and the scores of one tile, 2 bytes each:
// the bytes a user adds up from the report, for its tile and for the one it suggests.
inline void attention_buffers(const Json& report) {
  const Json& numbers = report.at("numbers");
  const Json& expect = report.at("expect");
  const auto bytes = [&](const Json& tile) {
    const std::int64_t m = integer(tile.at("BLOCK_M"));
    const std::int64_t n = integer(tile.at("BLOCK_N"));
    const std::int64_t q = integer(numbers.at("Lq"));
    const std::int64_t v = integer(numbers.at("Lv"));
    return 2 * (m * q + n * q + n * v + m * n);
  };
  for (const std::string& gpu : gpus_of(report)) {
    check_bytes(gpu, bytes(numbers), expect);
    check_bytes(gpu, bytes(expect.at("suggest")), expect.at("suggest"));
  }
}

// The report's tile and the suggested one, both by the sum of their buffers.
template <typename Bytes>
void check_tile_and_suggestion(const Json& report, Bytes bytes) {
  const Json& expect = report.at("expect");
  Json suggested = report.at("numbers");
  suggested.update(expect.at("suggest"));
  for (const std::string& gpu : gpus_of(report)) {
    check_bytes(gpu, bytes(report.at("numbers")), expect);
    check_bytes(gpu, bytes(suggested), expect.at("suggest"));
  }
}

// Flash attention before Hopper keeps Q, K and V of one tile, 2 bytes each.
inline void flash_attention_buffers(const Json& report) {
  check_tile_and_suggestion(report, [](const Json& tile) {
    const std::int64_t head_dim = integer(tile.at("head_dim"));
    return 2 * head_dim * (integer(tile.at("tile_m")) + 2 * integer(tile.at("tile_n")));
  });
}

// CUTLASS 2.x keeps a full pair of operand tiles a stage.
inline void cutlass_2_stages(const Json& report) {
  check_tile_and_suggestion(report, [](const Json& tile) {
    return integer(tile.at("stages")) * integer(tile.at("bytes_per_elem")) *
           integer(tile.at("threadblockK")) *
           (integer(tile.at("threadblockM")) + integer(tile.at("threadblockN")));
  });
}

// A budget in KiB a buffer; "misc" is scratch that the expected sum leaves out.
inline void budget_in_kib(const Json& report) {
  std::int64_t bytes = 0;
  for (const auto& [buffer, kib] : report.at("numbers").at("parts_kib").items()) {
    if (buffer != "misc") bytes += 1024 * integer(kib);
  }
  check_bytes_everywhere(report, bytes);
}

inline Json triton_gemm(const std::string& gpu, const Json& numbers, const std::string& version) {
  return occupancy(gpu, {"--kernel", "triton_gemm", "--triton-version", version,  //
                         "--block-m", text_of(numbers.at("BLOCK_M")),             //
                         "--block-n", text_of(numbers.at("BLOCK_N")),             //
                         "--block-k", text_of(numbers.at("BLOCK_K")),             //
                         "--num-stages", text_of(numbers.at("num_stages"))});
}

inline void check_gemm(const Json& got, const Json& expect) {
  INFO(got.dump());
  CHECK(got.at("launches") == expect.at("fits"));
  CHECK(got.at("cta").at("shared_bytes_requested") == expect.at("required"));
}

// The tile's bytes from the descriptor, then with the suggested number of stages.
inline void triton_gemm_stages(const Json& report) {
  Json numbers = report.at("numbers");
  const Json& expect = report.at("expect");
  for (const std::string& gpu : gpus_of(report)) {
    const Json got = triton_gemm(gpu, numbers, "3.x");
    check_gemm(got, expect);
    CHECK(got.at("shared_memory").at("limit_bytes") == expect.at("limit"));
    numbers["num_stages"] = expect.at("suggest").at("num_stages");
    check_gemm(triton_gemm(gpu, numbers, "3.x"), expect.at("suggest"));
  }
}

// The same tile under two generations of the compiler.
inline void triton_generations(const Json& report) {
  const Json& expect = report.at("expect");
  for (const std::string& gpu : gpus_of(report)) {
    const Json older = triton_gemm(gpu, report.at("numbers"), "2.x");
    check_gemm(older, expect.at("triton2"));
    check_gemm(triton_gemm(gpu, report.at("numbers"), "3.x"), expect.at("triton3"));
    CHECK(older.at("shared_memory").at("limit_bytes") == expect.at("limit"));
  }
}

// "128x128x256B": M x N x bytes of packed FP4, two elements a byte.
inline void cutlass_tiles(const Json& report) {
  for (const std::string& gpu : gpus_of(report)) {
    for (const auto& [tile, fits] : report.at("expect").at("fits").items()) {
      std::smatch size;
      REQUIRE(std::regex_match(tile, size, std::regex("([0-9]+)x([0-9]+)x([0-9]+)B")));
      const Json got = occupancy(
          gpu, {"--kernel", "cutlass_nvfp4", "--tile-m", size[1].str(), "--tile-n", size[2].str(),
                "--tile-k", std::to_string(2 * std::stoll(size[3].str()))});
      INFO(gpu << ", " << tile << ": " << got.dump());
      CHECK(got.at("launches") == fits);
    }
  }
}

// Static + dynamic bytes decide about the opt-in, not the dynamic ones alone.
inline void opt_in_of_the_sum(const Json& report) {
  const Json& numbers = report.at("numbers");
  for (const std::string& gpu : gpus_of(report)) {
    const std::vector<std::string> flags{"--smem", text_of(numbers.at("dynamic")), "--static-smem",
                                         text_of(numbers.at("static")), "--no-opt-in"};
    const Json got = occupancy(gpu, flags);
    CHECK(got.at("shared_memory").at("opt_in_required") == report.at("expect").at("needs_optin"));
    CHECK(got.at("verdict") == "shared_needs_opt_in");
    // Without the static bytes it would launch as it is.
    CHECK(occupancy(gpu, {"--smem", flags[1], "--no-opt-in"}).at("launches") == true);
  }
}

// How many threads of a fixed size each fit, with the plain limit and with the opt-in.
inline void threads_by_bytes(const Json& report) {
  const std::int64_t each = integer(report.at("numbers").at("bytes_per_thread"));
  for (const std::string& gpu : gpus_of(report)) {
    for (const char* opt_in : {"no", "yes"}) {
      Json widest;  // the last answer that launches
      std::int64_t threads = 0;
      for (std::int64_t n = 1; n <= 64; ++n) {
        std::vector<std::string> flags{"--threads", std::to_string(n), "--smem",
                                       std::to_string(n * each)};
        if (std::string(opt_in) == "no") flags.emplace_back("--no-opt-in");
        const Json got = occupancy(gpu, flags);
        if (got.at("launches") == false) break;
        threads = n;
        widest = got;
      }
      const std::string limit = text_of(widest.at("shared_memory").at("limit_bytes"));
      INFO(gpu << ", limit " << limit);
      REQUIRE(report.at("expect").at("threads").contains(limit));
      CHECK(threads == report.at("expect").at("threads").at(limit));
    }
  }
}

}  // namespace smtwin::cases

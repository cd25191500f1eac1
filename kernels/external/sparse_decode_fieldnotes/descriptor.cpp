// SPDX-License-Identifier: Apache-2.0
#include "kernels/external/sparse_decode_fieldnotes/descriptor.hpp"

#include <algorithm>
#include <bit>

#include "arch/units.hpp"
#include "kernels/external/sparse_decode_fieldnotes/work.hpp"
#include "kernels/parameter_specs.hpp"
#include "kernels/text.hpp"
#include "kernels/triton_gemm_tile.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kBytesPerHead = 1152;
constexpr std::int64_t kBytesPerTokenStage = 1348;
constexpr std::int64_t kLargestBlockH = 32;
constexpr std::int64_t kHeadDim = 512;
constexpr std::int32_t kTraceRegisters = 255;      // seen in the live trace, 4 warps
constexpr std::int32_t kEightWarpRegisters = 175;  // middle of the estimate 150 to 200
constexpr std::int32_t kRegisterFile = 65536;
constexpr ComputeCapability kFirstFp8{8, 9};

struct MeasuredPoint {
  SparseDecodeTile tile;
  const char* sentence;
};
constexpr MeasuredPoint kMeasured[] = {
    {{16, 16, 2}, "61,568 B was read from the compiler's cache."},
    {{16, 32, 2}, "104,704 B was measured: the launch failed 3,328 B over 101,376 B."},
    {{32, 16, 2}, "80,000 B was read from a live trace."},
};

std::string worked_bytes(const SparseDecodeTile& tile) {
  return "1152 x " + std::to_string(tile.block_h) + " + 1348 x " + std::to_string(tile.num_stages) +
         " x " + std::to_string(tile.block_t) + " = " +
         with_separators(sparse_decode_shared_bytes(tile));
}

struct Registers {
  std::int32_t per_thread;
  Provenance provenance;
  std::string source;
};

Registers registers(const SparseDecodeTile& tile, std::int64_t num_warps) {
  if (num_warps == 4) {
    const bool trace = tile.block_h == 32 && tile.block_t == 16 && tile.num_stages == 2;
    return {kTraceRegisters, trace ? Provenance::measured : Provenance::extrapolated,
            trace ? "255 in the live trace with 4 warps"
                  : "about 255 with 4 warps, as in the live trace of BLOCK_H 32, BLOCK_T 16"};
  }
  if (num_warps == 8) {
    return {kEightWarpRegisters, Provenance::assumed,
            "the field notes' estimate of 150 to 200 with 8 warps (the accumulator is spread "
            "over twice the threads); a kernel of this structure compiled for sm_120 took 237"};
  }
  const auto most =
      num_warps > 8 ? kRegisterFile / static_cast<std::int32_t>(num_warps * 32) : kTraceRegisters;
  return {std::min(kTraceRegisters, most), Provenance::assumed,
          "assumed: never compiled with " + std::to_string(num_warps) + " warps"};
}

std::string power_of_two_problem(const char* name, std::int64_t value) {
  if (std::has_single_bit(static_cast<std::uint64_t>(value))) return "";
  return std::string(name) + " " + std::to_string(value) +
         " is not a power of two, which Triton requires";
}

class SparseDecodeFieldnotes final : public KernelDescriptor {
 public:
  std::string name() const override { return "sparse_decode_fieldnotes"; }
  std::string summary() const override {
    return "sparse latent-attention decode over top-k tokens, the Triton kernel of the field notes";
  }

  std::vector<std::string> sources() const override {
    return {"shared bytes and registers: field notes, three observed sizes and one trace",
            "split rule: assumed, production rule not known",
            "work per warp: checked against a kernel of the same structure timed on one H200",
            "dequantization rate: microbenchmark on one H200"};
  }

  std::vector<ParameterSpec> parameters() const override {
    constexpr ValueRange kMany{1, std::int64_t{1} << 20};
    return {
        shape_parameter("heads", "query heads this GPU sees", 16, {1, 1024}),
        shape_parameter("topk", "selected tokens per query", 512, kMany),
        shape_parameter("batch", "queries", 64, kMany),
        shape_parameter("d", "values of a head; the shared-memory formula holds for 512 only",
                        kHeadDim, {kHeadDim, kHeadDim}),
        config_parameter("block_h", "query heads of a CTA; 0 = min(32, heads)", 0, {0, 256}, "BH",
                         {}),
        config_parameter("block_t", "tokens of a tile", 16, {1, 1024}, "BT", {16, 32, 64}),
        config_parameter("num_warps", "warps of a CTA", 4, {1, 64}, "w", {4, 8}),
        config_parameter("num_stages", "pipeline stages", 2, {1, 16}, "s", {1, 2, 3}),
        target_parameter("nsplit", "splits of the tokens; 0 = the assumed rule", 0, {0, 65535}),
    };
  }

  KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const override {
    const auto heads = parameters.at("heads");
    const auto topk = parameters.at("topk");
    const auto batch = parameters.at("batch");
    const auto num_warps = parameters.at("num_warps");
    SparseDecodeTile tile;
    tile.block_h =
        parameters.at("block_h") > 0 ? parameters.at("block_h") : std::min(kLargestBlockH, heads);
    tile.block_t = parameters.at("block_t");
    tile.num_stages = parameters.at("num_stages");
    const auto head_groups = ceil_div(heads, tile.block_h);
    const bool rule = parameters.at("nsplit") == 0;
    const auto splits = rule ? assumed_split_count({batch, head_groups, topk, tile.block_t,
                                                    require(gpu, gpu.sm_count, "sm_count")})
                             : parameters.at("nsplit");
    const auto tokens = ceil_div(topk, splits);
    const PointProvenance shared = sparse_decode_shared_provenance(tile);
    const Registers used = registers(tile, num_warps);
    const SparseDecodeWork work =
        sparse_decode_work({static_cast<double>(heads) / static_cast<double>(head_groups),
                            tile.block_h, tile.block_t, num_warps, tile.num_stages, tokens});

    KernelInstance instance;
    instance.kernel = name();
    instance.config = compact_config(parameters);
    instance.resources.threads_per_cta =
        static_cast<std::int32_t>(num_warps * gpu.sm.threads_per_warp);
    instance.resources.registers_per_thread = used.per_thread;
    instance.resources.dynamic_shared_bytes = sparse_decode_shared_bytes(tile);
    instance.shared_provenance = shared.provenance;
    instance.shared_formula = worked_bytes(tile);
    instance.registers_provenance = used.provenance;
    instance.registers_source = used.source;
    instance.grid = {batch, head_groups, splits,
                     std::to_string(batch) + " x " + std::to_string(head_groups) + " x " +
                         std::to_string(splits)};
    instance.work = work.cta;
    instance.pipe = MathPipe::bf16;

    const double queries = static_cast<double>(batch);
    const double all_tokens = queries * static_cast<double>(topk);
    const double all_heads = queries * static_cast<double>(heads);
    constexpr double kValueBytes = 2, kSumBytes = 4;
    // Scores and values: two products over 512 values, a multiply-add each.
    instance.useful_flops =
        2 * kFlopsPerFma * all_heads * static_cast<double>(topk) * kSparseDecodeHeadDim;
    instance.unique_read_bytes =
        all_tokens * (kSparseDecodeCacheRowBytes + kSparseDecodeIndexBytes) +
        all_heads * kSparseDecodeHeadDim * kValueBytes;
    instance.unique_write_bytes =
        all_heads * static_cast<double>(splits) * (kSparseDecodeHeadDim * kValueBytes + kSumBytes);
    instance.facts = {
        {"block_h", static_cast<double>(tile.block_h), "", "query heads of a CTA"},
        {"n_hg", static_cast<double>(head_groups), "", "head groups, ceil(heads / block_h)"},
        {"nsplit", static_cast<double>(splits), "", "splits of the tokens"},
        {"tokens_per_split", static_cast<double>(tokens), "", "tokens a CTA gathers"},
        {"tiles_per_split", work.cta.steps, "", "pipeline steps of a CTA"},
        {"tokens_gathered", static_cast<double>(head_groups) * all_tokens, "",
         "n_hg x batch x topk: every head group gathers and dequantizes them again"},
        {"score_repeats", work.score_repeats, "",
         "how often each score product is computed by different warps"},
        {"score_shared_bytes_per_token", work.score_shared_bytes, "B",
         "operand loads of the scores, all warps"},
        {"warp_instructions_per_token", work.warp_instructions_per_token, "",
         "issued by all warps of a CTA"}};
    add_assumptions(instance, tile, shared, used, work, rule);
    instance.impossible = problem(tile, num_warps, gpu);
    if (instance.impossible.empty()) instance.impossible = grid_problem(instance.grid);
    return instance;
  }

 private:
  static void add_assumptions(KernelInstance& instance, const SparseDecodeTile& tile,
                              const PointProvenance& shared, const Registers& used,
                              const SparseDecodeWork& work, bool rule) {
    auto& sentences = instance.assumptions;
    sentences.push_back("Shared bytes: " + shared.sentence);
    sentences.push_back("Registers: " + used.source + ".");
    if (tile.num_stages == 1) {
      sentences.push_back("One stage gives up the overlap of loads with computing.");
    }
    sentences.push_back(rule ? "The split rule of production is not known; assumed: double the "
                               "splits while the grid stays within two CTAs an SM and a split "
                               "keeps a tile of tokens."
                             : "The number of splits was set by hand.");
    if (work.score_repeats > 1) {
      sentences.push_back("The score tile is too small for the warps: each product is computed " +
                          short_number(work.score_repeats) +
                          " times, so more warps add work as well as latency hiding.");
    }
    sentences.push_back(
        "Each head group gathers and dequantizes the same tokens again; the "
        "kernel that combines the splits is not counted.");
    sentences.push_back(
        "Work is counted for mma.sync on every chip, without bank conflicts; 16 "
        "instructions per warp and tile for addresses and loop are assumed.");
  }

  static std::string problem(const SparseDecodeTile& tile, std::int64_t num_warps,
                             const GpuSpec& gpu) {
    for (const auto& [label, value] :
         {std::pair{"block_h", tile.block_h}, std::pair{"block_t", tile.block_t},
          std::pair{"num_warps", num_warps}}) {
      const std::string text = power_of_two_problem(label, value);
      if (!text.empty()) return text;
    }
    if (tile.block_t < 16) return "block_t below 16 is less than a tl.dot takes along K";
    if (gpu.compute_capability < kFirstFp8) {
      return "Triton converts fp8 from " + architecture_name(kFirstFp8) + " on; this is " +
             architecture_name(gpu.compute_capability);
    }
    return "";
  }
};

}  // namespace

std::int64_t sparse_decode_shared_bytes(const SparseDecodeTile& tile) {
  return kBytesPerHead * tile.block_h + kBytesPerTokenStage * tile.num_stages * tile.block_t;
}

PointProvenance sparse_decode_shared_provenance(const SparseDecodeTile& tile) {
  for (const auto& point : kMeasured) {
    if (point.tile.block_h == tile.block_h && point.tile.block_t == tile.block_t &&
        point.tile.num_stages == tile.num_stages) {
      return {Provenance::measured, point.sentence};
    }
  }
  return {Provenance::extrapolated,
          with_separators(sparse_decode_shared_bytes(tile)) +
              " B is extrapolated from three observed sizes; this tile was never compiled."};
}

std::int64_t assumed_split_count(const SplitInput& input) {
  constexpr std::int64_t kCtasPerSm = 2;
  std::int64_t splits = 1;
  while (saturating_mul(input.batch * input.head_groups, 2 * splits) <=
             kCtasPerSm * input.sm_count &&
         input.topk / (2 * splits) >= input.block_t) {
    splits *= 2;
  }
  return splits;
}

std::unique_ptr<KernelDescriptor> make_sparse_decode_fieldnotes() {
  return std::make_unique<SparseDecodeFieldnotes>();
}

}  // namespace smtwin

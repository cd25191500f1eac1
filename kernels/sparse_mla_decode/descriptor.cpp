// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse_mla_decode/descriptor.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "arch/units.hpp"
#include "kernels/compiled_table.hpp"
#include "kernels/parameter_specs.hpp"
#include "kernels/sparse_mla_decode/work.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

constexpr const char* kName = "sparse_mla_decode";
constexpr ComputeCapability kFirst{9, 0};  // setmaxnreg and FP8 -> f16 conversions
constexpr std::int64_t kMaxGridYz = 65535;

struct Registers {
  std::int32_t per_thread = 0;
  Provenance provenance = Provenance::assumed;
  std::string source;
};

// Without a table: Q and sums of a lane, and what a variant of this structure needs beside them.
constexpr std::int32_t kOtherRegisters = 56;

Registers registers_of(const SparseMlaTile& tile, const std::string& config, ComputeCapability cc) {
  if (const CompiledVariant* compiled = compiled_table(kName).find(config, cc)) {
    return {compiled->registers_per_thread, Provenance::compiled,
            compiled_table(kName).compiler + " for " + architecture_name(compiled->target)};
  }
  const int sums = sparse_mla_accumulators(tile);
  if (sparse_mla_moves_registers(tile)) {
    return {tile.num_warps == 4 ? 128 : 168, Provenance::assumed,
            "the launch bound: registers move to the compute warps afterwards"};
  }
  return {static_cast<std::int32_t>(sums + sums / 2 + kOtherRegisters), Provenance::assumed,
          "estimated: not compiled for " + architecture_name(cc)};
}

class SparseMlaDecode final : public KernelDescriptor {
 public:
  std::string name() const override { return kName; }
  std::string summary() const override {
    return "split-K sparse MLA decode over top-k tokens of an FP8 cache, this project's own kernel";
  }
  std::vector<std::string> sources() const override {
    return {"shared bytes, grid, splits and work: counted from the kernel's source",
            "registers: read from the compiled variants (data/kernels)"};
  }

  std::vector<ParameterSpec> parameters() const override {
    constexpr ValueRange kMany{1, std::int64_t{1} << 20};
    return {
        shape_parameter("heads", "query heads this GPU sees", 16, {1, 1024}),
        shape_parameter("topk", "selected tokens of a request, -1 among them included", 2048,
                        kMany),
        shape_parameter("batch", "requests", 64, kMany),
        shape_parameter("page_size", "tokens of a cache page; even", 64, {2, 4096}),
        shape_parameter("context", "cached tokens of a request, of which topk are selected", 8192,
                        kMany),
        shape_parameter("holes", "selected tokens that are -1, in percent", 0, {0, 100}),
        shape_parameter("ragged", "1: requests use a random number of their topk, some none", 0,
                        {0, 1}),
        shape_parameter("wide_scales", "1: some tokens are thousands of times larger", 0, {0, 1}),
        config_parameter("block_h", "query heads of a CTA; 0 = the default configuration", 0,
                         {0, 64}, "BH", {16, 32, 64}),
        config_parameter("block_t", "tokens of a tile", 32, {16, 64}, "BT", {16, 32, 64}),
        config_parameter("num_warps", "warps that compute", 8, {4, 8}, "w", {4, 8}),
        config_parameter("num_stages", "tiles in shared memory", 3, {1, 3}, "s", {1, 2, 3}),
        target_parameter("nsplit", "splits of the tokens; 0 = the rule", 0, {0, kMaxGridYz}),
        target_parameter("join", "1: two splits join in a cluster; 0: always by the combine kernel",
                         1, {0, 1}),
    };
  }

  KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const override {
    const auto heads = parameters.at("heads");
    const auto topk = parameters.at("topk");
    const auto batch = parameters.at("batch");
    const SparseMlaTile tile = sparse_mla_tile(parameters, gpu.sm.shared_bytes_per_cta_optin,
                                               require(gpu, gpu.sm_count, "sm_count"));
    Parameters used = parameters;
    used["block_h"] = tile.block_h;
    used["block_t"] = tile.block_t;
    used["num_warps"] = tile.num_warps;
    used["num_stages"] = tile.num_stages;

    KernelInstance instance;
    instance.kernel = name();
    instance.config = compact_config(used);
    const Registers registers = registers_of(tile, instance.config, gpu.compute_capability);
    const SparseMlaSharedBytes shared = sparse_mla_shared_bytes(tile);
    instance.resources.threads_per_cta = sparse_mla_threads(tile);
    instance.resources.registers_per_thread = registers.per_thread;
    instance.resources.dynamic_shared_bytes = shared.bytes;
    instance.resources.barriers_per_cta = 2;
    instance.shared_provenance = Provenance::compiled;
    instance.shared_formula = shared.formula;
    instance.registers_provenance = registers.provenance;
    instance.registers_source = registers.source;

    const auto groups = ceil_div<std::int64_t>(heads, tile.block_h);
    const auto tiles = ceil_div<std::int64_t>(topk, tile.block_t);
    const auto resident =
        std::max<std::int64_t>(1, sparse_mla_resident_ctas(tile, registers.per_thread, gpu.sm));
    const bool rule = parameters.at("nsplit") == 0;
    const auto splits =
        rule ? sparse_mla_split_count({.tile = tile,
                                       .batch = batch,
                                       .heads = heads,
                                       .topk = topk,
                                       .sm_count = require(gpu, gpu.sm_count, "sm_count"),
                                       .ctas_per_sm = resident})
             : std::min(parameters.at("nsplit"), tiles);
    const bool joined = parameters.at("join") != 0 && sparse_mla_joins(tile, splits);
    instance.resources.cluster_ctas = joined ? static_cast<std::int32_t>(splits) : 1;
    const bool combined = splits > 1 && !joined;
    const auto tokens = std::min(topk, ceil_div(tiles, splits) * tile.block_t);
    instance.grid = {
        batch, groups, splits,
        std::to_string(batch) + " x " + std::to_string(groups) + " x " + std::to_string(splits)};
    const SparseMlaWork work = sparse_mla_work(
        tile, {static_cast<double>(heads) / static_cast<double>(groups), tokens, splits > 1});
    instance.work = work.cta;
    instance.pipe = MathPipe::bf16;

    const double all_heads = static_cast<double>(batch) * static_cast<double>(heads);
    const double all_tokens = static_cast<double>(batch) * static_cast<double>(topk);
    constexpr double kIndexBytes = 4, kBf16Bytes = 2;
    const double output_bytes = all_heads * kMlaHeadDim * kBf16Bytes;
    const double partial_bytes =
        combined ? all_heads * static_cast<double>(splits) * kSparseMlaPartialBytes : 0;
    instance.useful_flops = 2 * kFlopsPerFma * all_heads * static_cast<double>(topk) * kMlaHeadDim;
    instance.unique_read_bytes = all_tokens * (kMlaTokenBytes + kIndexBytes) + output_bytes;
    instance.unique_write_bytes = combined ? partial_bytes : output_bytes;
    instance.facts = {
        {"block_h", static_cast<double>(tile.block_h), "", "query heads of a CTA"},
        {"n_hg", static_cast<double>(groups), "", "head groups, ceil(heads / block_h)"},
        {"head_passes", static_cast<double>(sparse_mla_head_passes(tile)), "",
         "times a CTA goes over its tokens, each with a part of its heads"},
        {"producer_warps", static_cast<double>(sparse_mla_producer_warps(tile)), "",
         "warps that gather, on top of num_warps"},
        {"nsplit", static_cast<double>(splits), "", "splits of the tokens"},
        {"resident_ctas", static_cast<double>(resident), "", "CTAs an SM holds, for the rule"},
        {"tiles_per_split", work.cta.steps, "", "pipeline steps of the longest split"},
        {"joined", joined ? 1.0 : 0.0, "", "1: the splits join in a cluster, no combine kernel"},
        {"combine_bytes", combined ? partial_bytes + output_bytes : 0, "B",
         "read and written by the combine kernel; 0 = it does not run"},
        {"combine_ctas", combined ? static_cast<double>(sparse_mla_combine_ctas(batch * heads)) : 0,
         "", "of the combine kernel, two heads each"},
        {"conversions_per_token", work.conversion_instructions, "",
         "FP8 to f16, warp instructions of a CTA"},
        {"mma_per_token", work.mma_instructions, "", "m16n8k16 instructions of a CTA"},
        {"warp_instructions_per_token", work.warp_instructions, "", "issued by a CTA"},
        {"gather_shared_bytes_per_token", work.gather_shared_bytes, "B", "rows written"},
        {"operand_shared_bytes_per_token", work.operand_shared_bytes, "B",
         "rows read for both products"},
        {"score_shared_bytes_per_token", work.score_shared_bytes, "B",
         "partial scores and probabilities, written and read"}};
    add_assumptions(instance, tile, registers, rule);
    instance.impossible = problem(parameters, tile, instance.grid, gpu);
    return instance;
  }

 private:
  static void add_assumptions(KernelInstance& instance, const SparseMlaTile& tile,
                              const Registers& registers, bool rule) {
    auto& sentences = instance.assumptions;
    if (registers.provenance != Provenance::compiled) {
      sentences.push_back("Registers: " + registers.source + ".");
    }
    sentences.push_back(rule ? "Splits: the rule that the launch follows, mostly one wave of CTAs."
                             : "The number of splits was set by hand.");
    if (sparse_mla_head_passes(tile) > 1) {
      sentences.push_back("The sums of all heads do not fit the registers of " +
                          std::to_string(tile.num_warps) + " warps: a CTA gathers its tokens " +
                          std::to_string(sparse_mla_head_passes(tile)) + " times.");
    }
    if (tile.num_stages == 1) {
      sentences.push_back("One stage gives up the overlap of the gather with computing.");
    }
    sentences.push_back("Every request is counted with all its topk tokens present.");
  }

  static std::string problem(const Parameters& parameters, const SparseMlaTile& tile,
                             const Grid& grid, const GpuSpec& gpu) {
    if (gpu.compute_capability < kFirst) {
      return "compiled for " + architecture_name(kFirst) + " and later; this is " +
             architecture_name(gpu.compute_capability);
    }
    for (const auto& [label, value, allowed] :
         {std::tuple{"block_h", tile.block_h, std::array{16, 32, 64}},
          std::tuple{"block_t", tile.block_t, std::array{16, 32, 64}},
          std::tuple{"num_warps", tile.num_warps, std::array{4, 8, 8}}}) {
      if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
        return std::string(label) + " " + std::to_string(value) + " is not a compiled variant";
      }
    }
    const auto page_size = parameters.at("page_size");
    if (page_size % 2 != 0) {
      return "page_size " + std::to_string(page_size) +
             " is odd: pages would not start at a multiple of 16 bytes";
    }
    if (grid.y > kMaxGridYz || grid.z > kMaxGridYz) {
      return "grid " + grid.formula + " exceeds " + std::to_string(kMaxGridYz) + " in y or z";
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<KernelDescriptor> make_sparse_mla_decode() {
  return std::make_unique<SparseMlaDecode>();
}

}  // namespace smtwin

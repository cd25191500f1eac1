// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense_gemm/descriptor.hpp"

#include <algorithm>

#include "arch/error.hpp"
#include "arch/units.hpp"
#include "kernels/compiled_table.hpp"
#include "kernels/dense_gemm/config.hpp"
#include "kernels/parameter_specs.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMaxSide = std::int64_t{1} << 20;
constexpr double kOutputBytes = 2;  // BF16
// mma.sync of both data types: 16 rows of W x 8 rows of A x 32 bytes of K.
constexpr std::int64_t kMmaWeightRows = 16;
constexpr std::int64_t kMmaActivationRows = 8;
constexpr std::int64_t kMmaDepthBytes = 32;
constexpr std::int64_t kGroupWeightRows = 64;  // of wgmma
constexpr std::int32_t kBarriers = 2;          // of all threads, and of those that hold sums
constexpr double kInstructionBytes = 512;      // 32 lanes x 16 bytes: a copy, an ldmatrix.x4

double as_double(std::int64_t value) { return static_cast<double>(value); }

// What CTAs that share a tile exchange, in FP32 tiles of the whole grid: through memory to the last
// one (of two CTAs only the earlier one writes), or in a cluster through shared memory, where each
// CTA writes one tile and reads as much.
struct Exchange {
  double written_tiles = 0;
  double read_tiles = 0;
  bool in_cluster = false;
  double shared_tiles = 0;
  std::int64_t most_ctas = 1;  // of one tile
};

void add_shared_tile(Exchange& sum, std::int64_t ctas, double tiles) {
  sum.shared_tiles += tiles;
  sum.most_ctas = std::max(sum.most_ctas, ctas);
  const double moved = ctas == 2 && !sum.in_cluster ? 1 : as_double(ctas);
  sum.written_tiles += moved * tiles;
  sum.read_tiles += moved * tiles;
}

Exchange exchange(const StreamK& work, bool in_cluster) {
  Exchange sum;
  sum.in_cluster = in_cluster;
  if (work.ctas % work.tiles == 0) {  // every tile alike
    if (work.ctas > work.tiles) add_shared_tile(sum, work.ctas / work.tiles, as_double(work.tiles));
    return sum;
  }
  std::int32_t counted = -1;
  for (std::int32_t cta = 1; cta < work.ctas; ++cta) {
    const auto first = work.first_step(cta);
    const auto tile = first / work.k_steps;
    if (first % work.k_steps == 0 || tile == counted) continue;
    counted = tile;
    add_shared_tile(sum, work.last_cta(tile, cta) - work.first_cta(tile, cta) + 1, 1);
  }
  return sum;
}

struct Registers {
  std::int64_t per_thread = 0;
  Provenance provenance = Provenance::assumed;
  std::string source;
};

// Accumulators, the fragments of one k step, and what addresses and loop take.
Registers registers_of(const DenseGemmTile& tile, ComputeCapability cc) {
  if (const auto* compiled = compiled_table("dense_gemm").find_symbol(gemm_symbol(tile), cc)) {
    return {compiled->registers_per_thread, Provenance::compiled,
            compiled_table("dense_gemm").compiler + ", " + compiled->symbol};
  }
  const auto threads = std::int64_t{tile.num_warps} * 32;
  const auto accumulators = tile.block_m * tile.block_n / threads;
  return {std::min<std::int64_t>(255, 40 + accumulators + tile.block_m / 4), Provenance::assumed,
          "estimate 40 + accumulators + BLOCK_M / 4; not in the compiled table"};
}

double weight_tiles_per_step(const DenseGemmTile& tile) {
  return as_double(ceil_div<std::int64_t>(tile.block_n, kGroupWeightRows));
}

// Reads of shared memory in one step. mma.sync: W once, A by every warp. wgmma: each instruction
// reads its 64 rows of W and all of A.
double operand_read_bytes(const DenseGemmTile& tile) {
  const double row = as_double(kGemmRowBytes);
  const double repeats = tile.wgmma ? weight_tiles_per_step(tile) : as_double(tile.num_warps);
  return row * (as_double(tile.block_n) + repeats * as_double(tile.block_m));
}

// Warp instructions of one step, all warps: copies into shared memory, operand loads, multiplies,
// and wait, barrier, addresses and loop.
double step_instructions(const DenseGemmTile& tile, ComputeCapability cc, double copied_bytes) {
  // Wait, barrier, addresses and loop, counted in sm_90a code.
  constexpr double kControlPerWarp = 95, kControlPerWgmmaWarp = 50, kControlOfCopyingWarp = 60;
  const double copies = copied_bytes / kInstructionBytes;
  const double depth = as_double(kGemmRowBytes / kMmaDepthBytes);
  const double warps = as_double(tile.num_warps);
  if (tile.wgmma) {
    return warps * kControlPerWgmmaWarp + kControlOfCopyingWarp +
           4 * depth * weight_tiles_per_step(tile);
  }
  const double mma = depth * as_double(tile.block_n / kMmaWeightRows) *
                     as_double(tile.block_m / kMmaActivationRows);
  const double loads = operand_read_bytes(tile) / kInstructionBytes;
  const bool emulated = tile.dtype == DenseGemmDtype::fp8 && cc.major == 9;
  // Two half-depth multiplies, and two conversions for each loaded register.
  return copies + warps * kControlPerWarp + loads * (emulated ? 9 : 1) + mma * (emulated ? 2 : 1);
}

class DenseGemm final : public KernelDescriptor {
 public:
  std::string name() const override { return "dense_gemm"; }
  std::string summary() const override {
    return "skinny dense GEMM for decode, stream-K, BF16 and FP8 (own kernel)";
  }

  std::vector<std::string> sources() const override {
    return {"shared bytes, grid and work: kernels/dense_gemm/config.cpp, used by the launcher too",
            "registers: data/kernels/dense_gemm.json, read from the compiled code"};
  }

  std::vector<ParameterSpec> parameters() const override {
    constexpr ValueRange kSide{1, kMaxSide};
    return {
        shape_parameter("m", "rows of A and D (tokens)", 16, kSide),
        shape_parameter("n", "rows of W, columns of D", 8192, kSide),
        shape_parameter("k", "columns of A and W", 8192, kSide),
        choice_parameter("dtype", "data type of A and W", ParameterRole::shape, {"bf16", "fp8"}),
        config_parameter("block_m", "rows of A in a tile", 16, {16, 64}, "BM", {16, 32, 64}),
        config_parameter("block_n", "rows of W in a tile", 128, {64, 128}, "BN", {64, 128}),
        config_parameter("block_k", "elements of K in a step: 64 = bf16, 128 = fp8", 64, {64, 128},
                         "BK", {64, 128}),
        config_parameter("num_warps", "warps of a CTA", 4, {4, 8}, "w", {4, 8}),
        config_parameter("num_stages", "steps in shared memory at once", 5, {2, 16}, "s",
                         {3, 4, 5, 6, 7, 9, 10, 11}),
        config_parameter("wgmma", "1 = Hopper's warpgroup multiply, 0 = mma.sync", 0, {0, 1}, "WG",
                         {0, 1}),
        config_parameter("split_k", "CTAs a tile; 0 = rule: whole splits or stream-K, one wave", 0,
                         {0, kGemmMaxSplit}, "SK", {0}),
    };
  }

  Parameters default_config(const Parameters& shape, const GpuSpec& gpu) const override {
    return gemm_default_config(gemm_shape(shape), gpu.compute_capability,
                               require(gpu, gpu.sm_count, "sm_count"));
  }

  KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const override {
    const DenseGemmShape shape = gemm_shape(parameters);
    const DenseGemmTile tile = gemm_tile(parameters);
    KernelInstance instance;
    instance.kernel = name();
    instance.config = compact_config(parameters);
    set_resources(instance, tile, gpu);
    const auto split_k = parameters.at("split_k");
    const auto uncountable = gemm_partition_problem(shape, tile, split_k);
    instance.impossible = uncountable.empty() ? problem(shape, tile, gpu) : uncountable;
    if (shape.dtype != tile.dtype || !uncountable.empty()) return instance;

    const GemmSlots slots{
        .resident = gemm_resident_ctas(tile, instance.resources.registers_per_thread, gpu.sm),
        .sm_count = require(gpu, gpu.sm_count, "sm_count")};
    const StreamK work = gemm_partition(shape, tile, split_k, slots);
    const auto cluster_ctas = gemm_cluster_ctas(tile, work, slots);
    instance.resources.cluster_ctas = cluster_ctas;
    const Exchange moved = exchange(work, cluster_ctas > 1);
    instance.grid = {work.ctas, 1, 1,
                     work.ctas % work.tiles == 0
                         ? std::to_string(work.tiles) + " tiles x " +
                               std::to_string(work.ctas / work.tiles) + " splits"
                         : std::to_string(slots.resident) + " x " + std::to_string(slots.sm_count) +
                               " resident, " + with_separators(work.total()) + " steps shared"};
    set_work(instance, shape, tile, work, moved, gpu.compute_capability);
    add_facts(instance, tile, work, moved);
    add_assumptions(instance, tile, gpu.compute_capability);
    return instance;
  }

 private:
  static void set_resources(KernelInstance& instance, const DenseGemmTile& tile,
                            const GpuSpec& gpu) {
    const auto registers = registers_of(tile, gpu.compute_capability);
    auto& resources = instance.resources;
    resources.threads_per_cta = gemm_warps(tile) * gpu.sm.threads_per_warp;
    resources.registers_per_thread = static_cast<std::int32_t>(registers.per_thread);
    resources.dynamic_shared_bytes = gemm_shared_bytes(tile);
    resources.function_max_threads_per_cta = resources.threads_per_cta;
    resources.barriers_per_cta = kBarriers;
    instance.registers_provenance = registers.provenance;
    instance.registers_source = registers.source;
    instance.shared_provenance = Provenance::compiled;
    const std::string stage = "(" + std::to_string(tile.block_m) + " + " +
                              std::to_string(tile.block_n) + ") x " + std::to_string(kGemmRowBytes);
    const std::string barriers = " + " + std::to_string(kGemmBarrierBytes);
    instance.shared_formula = std::to_string(tile.num_stages) + " x " +
                              (tile.wgmma ? "(" + stage + barriers + ")" : stage) + " + " +
                              std::to_string(kGemmFlagBytes) + " = " +
                              with_separators(resources.dynamic_shared_bytes);
    const bool emulated =
        tile.dtype == DenseGemmDtype::fp8 && !tile.wgmma && gpu.compute_capability.major == 9;
    instance.pipe = tile.dtype == DenseGemmDtype::bf16 || emulated ? MathPipe::bf16 : MathPipe::fp8;
  }

  static std::string problem(const DenseGemmShape& shape, const DenseGemmTile& tile,
                             const GpuSpec& gpu) {
    if (const auto text = gemm_shape_problem(shape); !text.empty()) return text;
    if (shape.dtype != tile.dtype) {
      return "block_k " + std::to_string(tile.block_k) + " is " + to_string(tile.dtype) +
             "'s; a step is 128 bytes: 64 for bf16, 128 for fp8";
    }
    const auto& variants = gemm_variants();
    if (std::find(variants.begin(), variants.end(), tile) == variants.end()) {
      return "not among the " + std::to_string(variants.size()) +
             " compiled variants (kernels/dense_gemm/variants.def)";
    }
    if (tile.wgmma && gpu.compute_capability != ComputeCapability{9, 0}) {
      return "wgmma exists on sm_90 only; this is " + architecture_name(gpu.compute_capability);
    }
    return "";
  }

  // Of the average CTA. Rows of an edge tile that do not exist are neither loaded nor stored, but
  // multiplied.
  static void set_work(KernelInstance& instance, const DenseGemmShape& shape,
                       const DenseGemmTile& tile, const StreamK& work, const Exchange& moved,
                       ComputeCapability cc) {
    const double ctas = as_double(work.ctas);
    const double steps = as_double(work.total()) / ctas;
    const double m = as_double(shape.m), n = as_double(shape.n), k = as_double(shape.k);
    const double bytes = element_bytes(shape.dtype);
    const double tiles_m = as_double(ceil_div<std::int64_t>(shape.m, tile.block_m));
    const double tiles_n = as_double(ceil_div<std::int64_t>(shape.n, tile.block_n));
    const double copied =
        (m / tiles_m + n / tiles_n) * k * bytes / as_double(work.k_steps);  // a step
    const double partial = as_double(gemm_partial_bytes(tile));
    const double exchanged_reads = moved.read_tiles * partial / ctas;
    const double exchanged_writes = moved.written_tiles * partial / ctas;
    const double partial_reads = moved.in_cluster ? 0 : exchanged_reads;
    const double partial_writes = moved.in_cluster ? 0 : exchanged_writes;

    CtaWork& cta = instance.work;
    cta.global_read_bytes = steps * copied + partial_reads;
    cta.global_write_bytes = m * n * kOutputBytes / ctas + partial_writes;
    cta.shared_bytes = steps * (copied + operand_read_bytes(tile)) +
                       (moved.in_cluster ? exchanged_reads + exchanged_writes : 0);
    cta.math_flops = steps * kFlopsPerFma * as_double(tile.block_m) * as_double(tile.block_n) *
                     as_double(tile.block_k);
    cta.fp32_flops = exchanged_reads / 4 + (shape.dtype == DenseGemmDtype::fp8 ? m * n / ctas : 0);
    cta.warp_instructions = steps * step_instructions(tile, cc, copied) +
                            (exchanged_reads + exchanged_writes) / kInstructionBytes;
    cta.steps = steps;
    cta.step_read_bytes = copied;
    cta.loads_in_flight = as_double(tile.num_stages - 1);

    instance.useful_flops = kFlopsPerFma * m * n * k;
    instance.unique_read_bytes = (m + n) * k * bytes;
    instance.unique_write_bytes = m * n * kOutputBytes;
  }

  static void add_facts(KernelInstance& instance, const DenseGemmTile& tile, const StreamK& work,
                        const Exchange& moved) {
    const double ctas = as_double(work.ctas);
    instance.facts = {
        {"tiles", as_double(work.tiles), "", "output tiles"},
        {"k_steps", as_double(work.k_steps), "", "pipeline steps of a tile"},
        {"steps_of_busiest_cta", as_double(ceil_div(work.total(), work.ctas)), "",
         "steps of the CTA with the most"},
        {"balance", as_double(work.total()) / ctas / as_double(ceil_div(work.total(), work.ctas)),
         "", "average steps of a CTA / most"},
        {"shared_tiles", moved.shared_tiles, "", "tiles that several CTAs sum"},
        {"ctas_of_a_tile", as_double(moved.most_ctas), "", "most CTAs that share one tile"},
        {"exchanged_bytes", moved.written_tiles * as_double(gemm_partial_bytes(tile)), "B",
         moved.in_cluster ? "FP32 sums that CTAs of a cluster read from each other"
                          : "FP32 sums that CTAs leave in memory for the last one of a tile"},
        {"useful_share", instance.useful_flops / instance.issued_math_flops(), "",
         "useful multiply-adds / issued ones"},
    };
  }

  static void add_assumptions(KernelInstance& instance, const DenseGemmTile& tile,
                              ComputeCapability cc) {
    auto& sentences = instance.assumptions;
    sentences.push_back(tile.wgmma ? "Each step is 4 wgmma m64 per 64 rows of W, operands from "
                                     "shared memory."
                                   : "Each step is mma.sync on 16 rows of W x 8 rows of A; every "
                                     "warp reads all of A.");
    if (tile.dtype == DenseGemmDtype::fp8 && !tile.wgmma && cc.major == 9) {
      sentences.push_back(
          "On sm_90 the compiler turns FP8 mma.sync into conversions to FP16 and FP16 multiplies.");
    }
    if (tile.dtype == DenseGemmDtype::fp8 && tile.wgmma) {
      sentences.push_back("FP8 wgmma adds products with fewer bits than FP32.");
    }
    sentences.push_back(
        "CTAs of a tile sum through shared memory where they form a cluster (wgmma, whole splits), "
        "else through memory; there, of two CTAs only the earlier one writes.");
  }
};

}  // namespace

std::unique_ptr<KernelDescriptor> make_dense_gemm() { return std::make_unique<DenseGemm>(); }

}  // namespace smtwin

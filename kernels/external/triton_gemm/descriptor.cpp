// SPDX-License-Identifier: Apache-2.0
#include "kernels/external/triton_gemm/descriptor.hpp"

#include <algorithm>

#include "arch/units.hpp"
#include "kernels/parameter_specs.hpp"
#include "kernels/text.hpp"
#include "kernels/triton_gemm_tile.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMaxSide = std::int64_t{1} << 26;
constexpr std::int64_t kOutputStagingSide = 128;  // the compiler converts 128 x 128 at a time
constexpr std::int64_t kOutputStagingBytes = 2;   // BF16
constexpr std::int64_t kOutputStagingWarps = 8;
constexpr double kPartialBytes = 4;  // FP32 partial sums of a split K
constexpr double kLanes = 32;

struct Shape {
  std::int64_t m, n, k, out_bytes, split_k;
};

SharedBytes shared_bytes(const TritonConfig& config, const OperandBuffers& buffers,
                         ComputeCapability cc) {
  SharedBytes shared{buffers.bytes, buffers.formula};
  const DotTile& tile = config.tile;
  if (dot_instruction(cc, config.version, tile) == DotInstruction::wgmma &&
      tile.num_warps == kOutputStagingWarps) {
    const auto rows = std::min(tile.m, kOutputStagingSide);
    const auto columns = std::min(tile.n, kOutputStagingSide);
    const auto staging = kOutputStagingBytes * rows * columns;
    if (staging > shared.bytes) {
      shared.bytes = staging;
      shared.formula = "output staging 2 x " + std::to_string(rows) + " x " +
                       std::to_string(columns) + " (more than the operands' " + buffers.formula +
                       " = " + with_separators(buffers.bytes) + ")";
    }
  }
  shared.formula += " = " + with_separators(shared.bytes);
  return shared;
}

struct Tiling {
  std::int64_t tiles_m, tiles_n, steps;
};

Tiling tile_shape(const Shape& shape, const DotTile& tile) {
  return {.tiles_m = ceil_div(shape.m, tile.m),
          .tiles_n = ceil_div(shape.n, tile.n),
          .steps = ceil_div(ceil_div(shape.k, tile.k), shape.split_k)};
}

// Average CTA: edge tiles fetch and store only the rows and columns that exist, but multiply all.
CtaWork cta_work(const Shape& shape, const Tiling& tiling, const TritonConfig& config,
                 int staged_bytes, DotInstruction instruction) {
  const DotTile& tile = config.tile;
  const double element = tile.element_bytes;
  const double rows = static_cast<double>(shape.m) / static_cast<double>(tiling.tiles_m);
  const double columns = static_cast<double>(shape.n) / static_cast<double>(tiling.tiles_n);
  const double depth = static_cast<double>(shape.k) / static_cast<double>(shape.split_k);
  const double steps = static_cast<double>(tiling.steps);
  const double warps = static_cast<double>(tile.num_warps);
  const double outputs = static_cast<double>(tile.m * tile.n);
  const double staged = static_cast<double>((tile.m + tile.n) * tile.k) * staged_bytes;
  const double out_bytes = shape.split_k > 1 ? kPartialBytes : static_cast<double>(shape.out_bytes);
  const DotWork dot = dot_work(instruction, tile);

  CtaWork work;
  work.global_read_bytes = (rows + columns) * depth * element;
  work.global_write_bytes = rows * columns * out_bytes;
  work.shared_bytes = steps * (staged + dot.shared_read_bytes) + 2 * outputs * out_bytes;
  work.math_flops = steps * dot.flops;
  work.warp_instructions = steps * (dot.warp_instructions + copy_instructions(staged) +
                                    warps * kLoopInstructionsPerWarpStep) +
                           outputs / kLanes + copy_instructions(outputs * out_bytes);
  work.steps = steps;
  work.step_read_bytes = work.global_read_bytes / steps;
  work.loads_in_flight = static_cast<double>(std::max<std::int64_t>(config.num_stages - 1, 0));
  return work;
}

class TritonGemm final : public KernelDescriptor {
 public:
  std::string name() const override { return "triton_gemm"; }
  std::string summary() const override { return "dense GEMM in Triton, one CTA an output tile"; }

  std::vector<std::string> sources() const override {
    return {"shared bytes: Triton 3.6.0 compiled for sm_90 and sm_120, 458 configurations",
            "Triton 2.x buffers: triton-lang/triton#1561",
            "registers: fitted to ptxas output of the same configurations"};
  }

  std::vector<ParameterSpec> parameters() const override {
    constexpr ValueRange kSide{1, kMaxSide};
    std::vector<ParameterSpec> specs = {
        shape_parameter("m", "rows of A and C", 128, kSide),
        shape_parameter("n", "columns of B and C", 4096, kSide),
        shape_parameter("k", "columns of A, rows of B", 4096, kSide),
        data_type_parameter(0),
        shape_parameter("out_bytes", "bytes of an output element", 2, {1, 4}),
    };
    for (auto& spec : triton_config_parameters()) specs.push_back(spec);
    specs.push_back(config_parameter("split_k", "CTAs that share one output tile along K", 1,
                                     {1, 64}, "SK", {1}));
    return specs;
  }

  KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const override {
    const GemmDataType& type = gemm_data_type(parameters);
    const TritonConfig config = triton_config(parameters, type.bytes);
    const Shape shape{parameters.at("m"), parameters.at("n"), parameters.at("k"),
                      parameters.at("out_bytes"), parameters.at("split_k")};
    const ComputeCapability cc = gpu.compute_capability;
    const DotInstruction instruction = dot_instruction(cc, config.version, config.tile);
    const OperandBuffers buffers =
        operand_buffers(cc, config.version, config.tile, config.num_stages);
    const SharedBytes shared = shared_bytes(config, buffers, cc);
    const Tiling tiling = tile_shape(shape, config.tile);

    KernelInstance instance;
    instance.kernel = name();
    instance.config = compact_config(parameters);
    set_triton_resources(instance, config, GemmBody::plain, type, gpu, buffers, shared);
    instance.grid = {tiling.tiles_m * tiling.tiles_n, 1, shape.split_k,
                     std::to_string(tiling.tiles_m) + " x " + std::to_string(tiling.tiles_n) +
                         " tiles x " + std::to_string(shape.split_k) + " splits"};
    instance.work = cta_work(shape, tiling, config, buffers.element_bytes, instruction);

    const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
                 k = static_cast<double>(shape.k);
    instance.useful_flops = kFlopsPerFma * m * n * k;
    instance.unique_read_bytes = (m + n) * k * type.bytes;
    instance.unique_write_bytes =
        m * n *
        (shape.split_k > 1 ? kPartialBytes * static_cast<double>(shape.split_k)
                           : static_cast<double>(shape.out_bytes));
    add_facts(instance, tiling, buffers);
    add_assumptions(instance, shape, config, buffers, instruction);
    if (instance.impossible.empty()) instance.impossible = grid_problem(instance.grid);
    return instance;
  }

 private:
  static void add_facts(KernelInstance& instance, const Tiling& tiling,
                        const OperandBuffers& buffers) {
    const double issued = instance.work.math_flops * static_cast<double>(instance.grid.ctas());
    instance.facts = {{"tiles_m", static_cast<double>(tiling.tiles_m), "", "row tiles"},
                      {"tiles_n", static_cast<double>(tiling.tiles_n), "", "column tiles"},
                      {"k_steps", static_cast<double>(tiling.steps), "", "pipeline steps of a CTA"},
                      {"operand_buffers", static_cast<double>(buffers.count), "",
                       "copies of the A and B tile in shared memory"},
                      {"useful_share", instance.useful_flops / issued, "",
                       "useful multiply-adds / issued ones, edge tiles and repeats included"}};
  }

  static void add_assumptions(KernelInstance& instance, const Shape& shape,
                              const TritonConfig& config, const OperandBuffers& buffers,
                              DotInstruction instruction) {
    auto& sentences = instance.assumptions;
    sentences.push_back("Each dot runs on " + to_string(instruction) + ". " + buffers.rule);
    sentences.push_back(
        "Warp instructions are counted for the dot, its operand loads and the "
        "copies; 16 more per warp and step for addresses and loop are assumed.");
    if (shape.split_k > 1) {
      sentences.push_back(
          "Each split adds its FP32 partial sums to memory; the reading side of "
          "those adds is not counted.");
    }
    if (config.group_m > 1) {
      sentences.push_back(
          "group_m only reorders the tiles; its effect on L2 hits is not "
          "modelled.");
    }
  }
};

}  // namespace

std::unique_ptr<KernelDescriptor> make_triton_gemm() { return std::make_unique<TritonGemm>(); }

}  // namespace smtwin

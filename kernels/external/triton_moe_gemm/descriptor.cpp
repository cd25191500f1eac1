// SPDX-License-Identifier: Apache-2.0
#include "kernels/external/triton_moe_gemm/descriptor.hpp"

#include <algorithm>
#include <cmath>

#include "arch/error.hpp"
#include "arch/units.hpp"
#include "kernels/parameter_specs.hpp"
#include "kernels/text.hpp"
#include "kernels/triton_gemm_tile.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMaxSide = std::int64_t{1} << 24;
constexpr std::int64_t kFp8 = 2;           // default of dtype
constexpr std::int64_t kScaleBytes = 4;    // an FP32 scale
constexpr std::int64_t kScaleBlock = 128;  // elements of K (and N) that share one
constexpr double kScaleFlops = 3;          // per output and step: one product, one FMA
constexpr double kOutputBytes = 2;
constexpr std::int64_t kLanes = 32;

SharedBytes shared_bytes(const OperandBuffers& buffers, const DotTile& tile, GemmBody body) {
  SharedBytes shared{buffers.bytes, buffers.formula};
  std::int64_t vector = 0;
  if (body == GemmBody::block_scaled) {
    for (const auto side : {tile.m, tile.n}) {
      if (side >= kLanes * tile.num_warps) vector = std::max(vector, side);
    }
  }
  if (vector > 0) {
    shared.bytes = saturating_add(shared.bytes, kScaleBytes * vector);
    shared.formula += " + 4 x " + std::to_string(vector);
  }
  shared.formula += " = " + with_separators(shared.bytes);
  return shared;
}

struct Shape {
  Routing routing;
  std::int64_t hidden, n;
};

// Average CTA. Padding rows are multiplied but not fetched or stored.
CtaWork cta_work(const Shape& shape, const ExpertLoad& load, const TritonConfig& config,
                 int staged_bytes, DotInstruction instruction, GemmBody body) {
  const DotTile& tile = config.tile;
  const bool scaled = body == GemmBody::block_scaled;
  const double tiles_n = static_cast<double>(ceil_div(shape.n, tile.n));
  const double rows = static_cast<double>(load.rows) / static_cast<double>(load.row_tiles);
  const double columns = static_cast<double>(shape.n) / tiles_n;
  const double depth = static_cast<double>(shape.hidden);
  const double steps = static_cast<double>(ceil_div(shape.hidden, tile.k));
  const double warps = static_cast<double>(tile.num_warps);
  const double outputs = static_cast<double>(tile.m * tile.n);
  const double staged = static_cast<double>((tile.m + tile.n) * tile.k) * staged_bytes;
  const DotWork dot = dot_work(instruction, tile);

  CtaWork work;
  work.global_read_bytes = (rows + columns) * depth * tile.element_bytes;
  if (scaled) {
    const double blocks_k = std::ceil(depth / static_cast<double>(kScaleBlock));
    const double blocks_n = std::ceil(columns / static_cast<double>(kScaleBlock));
    work.global_read_bytes += (rows + blocks_n) * blocks_k * static_cast<double>(kScaleBytes);
    work.fp32_flops = steps * outputs * kScaleFlops;
  }
  work.global_write_bytes = rows * columns * kOutputBytes;
  work.shared_bytes = steps * (staged + dot.shared_read_bytes) + 2 * outputs * kOutputBytes;
  work.math_flops = steps * dot.flops;
  const double scaling = scaled ? outputs * 2 / static_cast<double>(kLanes) : 0;
  work.warp_instructions = steps * (dot.warp_instructions + copy_instructions(staged) + scaling +
                                    warps * kLoopInstructionsPerWarpStep) +
                           outputs / static_cast<double>(kLanes) +
                           copy_instructions(outputs * kOutputBytes);
  work.steps = steps;
  work.step_read_bytes = work.global_read_bytes / steps;
  work.loads_in_flight = static_cast<double>(std::max<std::int64_t>(config.num_stages - 1, 0));
  return work;
}

class TritonMoeGemm final : public KernelDescriptor {
 public:
  std::string name() const override { return "triton_moe_gemm"; }
  std::string summary() const override {
    return "grouped GEMM of a mixture-of-experts layer in Triton";
  }

  std::vector<std::string> sources() const override {
    return {"shared bytes: Triton 3.6.0 compiled for sm_90 and sm_120, 352 configurations",
            "without block scales: sgl-project/sglang#8513, sgl-project/sglang#37803",
            "registers: fitted to ptxas output of the same configurations"};
  }

  std::vector<ParameterSpec> parameters() const override {
    constexpr ValueRange kSide{1, kMaxSide};
    std::vector<ParameterSpec> specs = {
        shape_parameter("tokens", "tokens in the batch", 16, kSide),
        shape_parameter("experts", "experts of the layer on this GPU", 128, {1, 65536}),
        shape_parameter("topk", "experts a token goes to", 8, {1, 1024}),
        shape_parameter("hidden", "K of the product: the width of a token's row", 2048, kSide),
        shape_parameter("n", "output width: 2 x expert width for gate and up together", 1536,
                        kSide),
        data_type_parameter(kFp8),
        choice_parameter("scales",
                         "auto: block for fp8, none otherwise; block: 128-wide, every step",
                         ParameterRole::shape, {"auto", "none", "block"}),
    };
    for (auto& spec : triton_config_parameters()) {
      if (spec.name == "block_m") spec.default_value = 16;
      if (spec.name == "block_k") {
        spec.default_value = 128;
        spec.candidates = {64, 128, 256};
      }
      specs.push_back(spec);
    }
    return specs;
  }

  KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const override {
    const GemmDataType& type = gemm_data_type(parameters);
    const TritonConfig config = triton_config(parameters, type.bytes);
    const Shape shape{{parameters.at("tokens"), parameters.at("experts"), parameters.at("topk")},
                      parameters.at("hidden"),
                      parameters.at("n")};
    const auto scales = parameters.at("scales");
    const bool fp8 = type.bytes == 1 && !type.is_integer;
    const GemmBody body =
        scales == 2 || (scales == 0 && fp8) ? GemmBody::block_scaled : GemmBody::plain;
    if (shape.routing.topk > shape.routing.experts) {
      throw UsageError("topk: a token cannot go to " + std::to_string(shape.routing.topk) + " of " +
                       std::to_string(shape.routing.experts) + " experts; use at most experts");
    }
    const ComputeCapability cc = gpu.compute_capability;
    const DotInstruction instruction = dot_instruction(cc, config.version, config.tile);
    const OperandBuffers buffers =
        operand_buffers(cc, config.version, config.tile, config.num_stages);
    const SharedBytes shared = shared_bytes(buffers, config.tile, body);
    const ExpertLoad load = balanced_load(shape.routing, config.tile.m);
    const auto tiles_n = ceil_div(shape.n, config.tile.n);

    KernelInstance instance;
    instance.kernel = name();
    instance.config = compact_config(parameters);
    set_triton_resources(instance, config, body, type, gpu, buffers, shared);
    instance.grid = {load.row_tiles * tiles_n, 1, 1,
                     std::to_string(load.row_tiles) + " row tiles x " + std::to_string(tiles_n) +
                         " column tiles"};
    instance.work = cta_work(shape, load, config, buffers.element_bytes, instruction, body);
    add_totals(instance, shape, load, type, body);
    add_facts(instance, load, buffers);
    add_assumptions(instance, shape.routing, load, buffers, instruction, body);
    if (instance.impossible.empty()) instance.impossible = grid_problem(instance.grid);
    return instance;
  }

 private:
  static void add_totals(KernelInstance& instance, const Shape& shape, const ExpertLoad& load,
                         const GemmDataType& type, GemmBody body) {
    const double rows = static_cast<double>(load.rows);
    const double tokens = static_cast<double>(std::min(shape.routing.tokens, load.rows));
    const double n = static_cast<double>(shape.n), k = static_cast<double>(shape.hidden);
    const double active = static_cast<double>(load.active_experts);
    instance.useful_flops = kFlopsPerFma * rows * n * k;
    // A token's row is fetched for each of its experts, but is the same memory.
    instance.unique_read_bytes = (active * n + tokens) * k * type.bytes;
    if (body == GemmBody::block_scaled) {
      const double block = static_cast<double>(kScaleBlock);
      instance.unique_read_bytes += (active * std::ceil(n / block) + tokens) *
                                    std::ceil(k / block) * static_cast<double>(kScaleBytes);
    }
    instance.unique_write_bytes = rows * n * kOutputBytes;
  }

  static void add_facts(KernelInstance& instance, const ExpertLoad& load,
                        const OperandBuffers& buffers) {
    const double issued = instance.work.math_flops * static_cast<double>(instance.grid.ctas());
    const double rows = static_cast<double>(load.rows);
    instance.facts = {
        {"active_experts", static_cast<double>(load.active_experts), "",
         "experts that get at least one token, expected " + short_number(load.expected_active)},
        {"rows", rows, "", "token-expert pairs"},
        {"rows_per_active_expert", rows / static_cast<double>(load.active_experts), "",
         "before padding to block_m"},
        {"row_tiles", static_cast<double>(load.row_tiles), "",
         "tiles of block_m rows over all active experts"},
        {"k_steps", instance.work.steps, "", "pipeline steps of a CTA"},
        {"operand_buffers", static_cast<double>(buffers.count), "",
         "copies of the A and B tile in shared memory"},
        {"useful_share", instance.useful_flops / issued, "",
         "useful multiply-adds / issued ones, padding and repeats included"}};
  }

  static void add_assumptions(KernelInstance& instance, const Routing& routing,
                              const ExpertLoad& load, const OperandBuffers& buffers,
                              DotInstruction instruction, GemmBody body) {
    auto& sentences = instance.assumptions;
    sentences.push_back("Each dot runs on " + to_string(instruction) + ". " + buffers.rule);
    const std::string experts = std::to_string(routing.experts);
    sentences.push_back("Routing is balanced: " + experts + " x (1 - (1 - " +
                        std::to_string(routing.topk) + "/" + experts + ")^" +
                        std::to_string(routing.tokens) +
                        ") = " + short_number(load.expected_active) +
                        " experts are active and share the rows evenly.");
    sentences.push_back(
        "CTAs launched past the padded row count return at once and are not "
        "counted.");
    sentences.push_back(body == GemmBody::block_scaled
                            ? "Scales are applied in every step, one per row and one per column "
                              "of a 128-wide block."
                            : "Scales, if any, are applied once after the loop and take no "
                              "shared memory.");
    sentences.push_back(
        "Warp instructions are counted for the dot, its operand loads, the "
        "copies and the scaling; 16 more per warp and step for addresses and "
        "loop are assumed.");
  }
};

}  // namespace

ExpertLoad balanced_load(const Routing& routing, std::int64_t block_m) {
  const double experts = static_cast<double>(routing.experts);
  const double missed = 1.0 - static_cast<double>(routing.topk) / experts;
  ExpertLoad load;
  load.expected_active = experts * (1.0 - std::pow(missed, static_cast<double>(routing.tokens)));
  load.rows = routing.tokens * routing.topk;
  // No fewer than one token reaches, no more than there are rows or experts.
  const auto most = std::min(routing.experts, load.rows);
  load.active_experts = std::clamp(static_cast<std::int64_t>(std::llround(load.expected_active)),
                                   std::min(routing.topk, most), most);
  const auto each = load.rows / load.active_experts;
  const auto larger = load.rows % load.active_experts;  // experts with one row more
  load.row_tiles = larger * ceil_div(each + 1, block_m) +
                   (load.active_experts - larger) * ceil_div(each, block_m);
  return load;
}

std::unique_ptr<KernelDescriptor> make_triton_moe_gemm() {
  return std::make_unique<TritonMoeGemm>();
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// GEMMs of a decode step on the described kernels: shapes and data types as parameters, a short
// list of tiles, and the bytes of packed weights. The tiles are narrow in M (the smallest that
// holds the rows) because decode has few rows, and vary in N, K and stages, which is what decides
// how much a CTA keeps in flight.
#include <algorithm>
#include <cmath>
#include <utility>

#include "arch/units.hpp"
#include "model/op_kernel.hpp"

namespace smtwin {
namespace {

struct DecodeTile {
  std::int64_t n = 64;
  std::int64_t k_bytes = 128;  // of a row of weights in one pipeline step
  std::int64_t stages = 3;
};
// Triton tiles: what published tuning files use at few rows.
constexpr DecodeTile kTritonTiles[] = {{32, 256, 4}, {64, 128, 4}, {64, 256, 3}, {128, 128, 4}};
constexpr std::int64_t kRowTiles[] = {16, 32, 64, 128};
constexpr std::int64_t kWideTile = 128 * 128;  // outputs from which 8 warps share a tile
constexpr std::int64_t kMaxSplits = 16;
constexpr std::int64_t kMinStepsOfSplit = 4;
// CUTLASS tiles that compile with several stages.
constexpr std::int64_t kCutlassTileK[] = {128, 256};
constexpr std::int64_t kCutlassTileM = 128;
constexpr std::int64_t kCutlassTileN = 128;

std::int64_t row_tile(std::int64_t rows) {
  for (const std::int64_t tile : kRowTiles) {
    if (rows <= tile) return tile;
  }
  return std::end(kRowTiles)[-1];
}

std::int64_t element_bytes(MathPipe pipe) {
  switch (pipe) {
    case MathPipe::fp32:
    case MathPipe::tf32:
      return 4;
    case MathPipe::fp8:
    case MathPipe::int8:
    case MathPipe::mxfp8:
    case MathPipe::nvfp4:
      return 1;
    case MathPipe::none:
    case MathPipe::bf16:
      break;
  }
  return 2;
}

// Chips before 8.0 have no bf16 instructions; engines run such models in fp16 there.
constexpr ComputeCapability kFirstBf16{8, 0};

const char* data_type(MathPipe pipe, const GpuSpec& gpu) {
  switch (pipe) {
    case MathPipe::fp32:
    case MathPipe::tf32:
      return "fp32";
    case MathPipe::fp8:
    case MathPipe::mxfp8:
    case MathPipe::nvfp4:
      return "fp8";
    case MathPipe::int8:
      return "int8";
    case MathPipe::none:
    case MathPipe::bf16:
      break;
  }
  return gpu.compute_capability < kFirstBf16 ? "fp16" : "bf16";
}

// A kernel with all its parameters at their defaults, and setting them by name.
class Configurator {
 public:
  Configurator(const char* kernel, const KernelSettings& settings)
      : kernel_(find_kernel(kernel)), defaults_(complete_parameters(kernel_, {})) {
    const auto found = settings.find(kernel);
    if (found != settings.end()) pinned_ = found->second;
  }

  void set(const std::string& name, std::int64_t value) { defaults_[name] = value; }
  void choose(const std::string& name, const std::string& choice) {
    for (const ParameterSpec& spec : kernel_.parameters()) {
      if (spec.name == name) defaults_[name] = parse_parameter(spec, choice);
    }
  }
  // One configuration of the list; the user's pins win, and what they make equal appears once.
  void add(const Parameters& config) {
    Parameters all = defaults_;
    for (const auto& [name, value] : config) all[name] = value;
    for (const auto& [name, value] : pinned_) all[name] = value;
    if (std::find(list_.begin(), list_.end(), all) == list_.end()) list_.push_back(std::move(all));
  }
  std::int64_t pinned_or(const std::string& name, std::int64_t value) const {
    const auto found = pinned_.find(name);
    return found == pinned_.end() ? value : found->second;
  }
  const std::vector<Parameters>& list() const { return list_; }
  KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const {
    return kernel_.instantiate(parameters, gpu);
  }

 private:
  const KernelDescriptor& kernel_;
  Parameters defaults_;
  Parameters pinned_;
  std::vector<Parameters> list_;
};

// What the op's matrices really take in memory, where the described kernel knows another format:
// its operand A stays, its operand B scales to the packed bytes.
void count_packed_weights(KernelInstance& instance, const StepOp& op, std::int64_t tile_n,
                          double described_element_bytes) {
  const auto ctas = static_cast<double>(instance.grid.ctas());
  const double described_activations = static_cast<double>(op.rows * op.copies) *
                                       static_cast<double>(op.k) * described_element_bytes;
  const double tiles_n = static_cast<double>(ceil_div(op.n, tile_n));
  const double once = op.kind == OpKind::grouped_gemm
                          ? described_activations / static_cast<double>(op.copies)
                          : described_activations;
  const double activations = once * tiles_n / ctas;  // of a CTA
  const double weights = std::max(0.0, instance.work.global_read_bytes - activations);
  const double described_weights = static_cast<double>(op.copies) * static_cast<double>(op.n) *
                                   static_cast<double>(op.k) * described_element_bytes;
  const double read = activations + weights * op.weight_bytes / described_weights;
  instance.work.step_read_bytes *= read / instance.work.global_read_bytes;
  instance.work.global_read_bytes = read;
  instance.unique_read_bytes = op.weight_bytes + op.read_bytes;
}

std::vector<KernelInstance> dense_triton(const StepOp& op, const GpuSpec& gpu,
                                         const KernelSettings& settings) {
  Configurator kernel("triton_gemm", settings);
  kernel.set("m", op.rows);
  kernel.set("n", op.n);
  kernel.set("k", op.k);
  kernel.choose("dtype", data_type(op.pipe, gpu));
  const std::int64_t element = element_bytes(op.pipe);
  const std::int64_t block_m = row_tile(op.rows);
  for (const DecodeTile& tile : kTritonTiles) {
    const std::int64_t block_k = tile.k_bytes / element;
    Parameters config{{"block_m", block_m},
                      {"block_n", tile.n},
                      {"block_k", block_k},
                      {"num_warps", block_m * tile.n >= kWideTile ? 8 : 4},
                      {"num_stages", tile.stages}};
    kernel.add(config);
    // Few tiles leave SMs idle: split K as far as every part still pipelines.
    const std::int64_t tiles = ceil_div(op.rows, block_m) * ceil_div(op.n, tile.n) * op.copies;
    const std::int64_t steps = ceil_div(op.k, block_k);
    std::int64_t splits = 1;
    while (2 * splits <= kMaxSplits && tiles * splits < gpu.sm_count.value_or(1) &&
           steps / (2 * splits) >= kMinStepsOfSplit) {
      splits *= 2;
    }
    if (splits == 1) continue;
    config["split_k"] = splits;
    kernel.add(config);
  }
  std::vector<KernelInstance> instances;
  for (const Parameters& config : kernel.list()) {
    KernelInstance instance = kernel.instantiate(config, gpu);
    instance.grid.y *= op.copies;
    instance.useful_flops = op.flops;
    instance.unique_write_bytes *= static_cast<double>(op.copies);
    count_packed_weights(instance, op, config.at("block_n"), static_cast<double>(element));
    if (instance.pipe != MathPipe::fp32) instance.pipe = op.pipe;
    instances.push_back(std::move(instance));
  }
  return instances;
}

std::vector<KernelInstance> grouped_triton(const StepOp& op, const GpuSpec& gpu,
                                           const KernelSettings& settings) {
  Configurator kernel("triton_moe_gemm", settings);
  // Of this rank: its experts, and as many choices a token as fall on them.
  const std::int64_t topk = std::max<std::int64_t>(1, std::min(op.experts, op.experts_per_token));
  kernel.set("experts", op.experts);
  kernel.set("topk", topk);
  kernel.set("tokens", ceil_div(op.rows, topk));
  kernel.set("hidden", op.k);
  kernel.set("n", op.n);
  kernel.choose("dtype", data_type(op.pipe, gpu));
  kernel.choose("scales", op.weight_format == NumberFormat::fp8_block ? "block" : "none");
  const std::int64_t element = element_bytes(op.pipe);
  const std::int64_t block_m = row_tile(ceil_div(op.rows, op.copies));
  for (const DecodeTile& tile : kTritonTiles) {
    kernel.add({{"block_m", block_m},
                {"block_n", tile.n},
                {"block_k", tile.k_bytes / element},
                {"num_warps", block_m * tile.n >= kWideTile ? 8 : 4},
                {"num_stages", tile.stages}});
  }
  std::vector<KernelInstance> instances;
  for (const Parameters& config : kernel.list()) {
    KernelInstance instance = kernel.instantiate(config, gpu);
    instance.useful_flops = op.flops;
    count_packed_weights(instance, op, config.at("block_n"), static_cast<double>(element));
    instance.pipe = op.pipe;
    instances.push_back(std::move(instance));
  }
  return instances;
}

std::vector<KernelInstance> cutlass(const StepOp& op, const GpuSpec& gpu,
                                    const KernelSettings& settings) {
  Configurator kernel("cutlass_nvfp4", settings);
  const bool grouped = op.kind == OpKind::grouped_gemm;
  kernel.set("m", op.rows);
  kernel.set("n", op.n);
  kernel.set("k", op.k);
  kernel.set("grouped", grouped ? 1 : 0);
  kernel.set("groups", grouped ? op.copies : 1);
  for (const std::int64_t tile_k : kCutlassTileK) {
    kernel.add({{"tile_m", kCutlassTileM}, {"tile_n", kCutlassTileN}, {"tile_k", tile_k}});
  }
  std::vector<KernelInstance> instances;
  for (const Parameters& config : kernel.list()) {
    KernelInstance instance = kernel.instantiate(config, gpu);
    if (!grouped) {
      instance.grid.y *= op.copies;
      instance.unique_write_bytes *= static_cast<double>(op.copies);
    }
    instance.useful_flops = op.flops;
    count_packed_weights(instance, op, config.at("tile_n"), bytes_per_element(NumberFormat::nvfp4));
    instances.push_back(std::move(instance));
  }
  return instances;
}

bool any_exists(const std::vector<KernelInstance>& instances) {
  return std::any_of(instances.begin(), instances.end(),
                     [](const KernelInstance& k) { return k.impossible.empty(); });
}

}  // namespace

std::vector<KernelInstance> gemm_instances(const StepOp& op, const GpuSpec& gpu,
                                           const KernelSettings& settings) {
  // Chips that multiply FP4 with another instruction: the Triton kernel stands in for theirs. Asked
  // without pins, so that a pinned tile that cannot exist is an answer and not another kernel.
  if (op.pipe == MathPipe::nvfp4) {
    std::vector<KernelInstance> unpinned = cutlass(op, gpu, {});
    if (any_exists(unpinned)) {
      return settings.contains("cutlass_nvfp4") ? cutlass(op, gpu, settings) : unpinned;
    }
  }
  return op.kind == OpKind::grouped_gemm ? grouped_triton(op, gpu, settings)
                                         : dense_triton(op, gpu, settings);
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Launches dense_gemm: the table of compiled variants, the grid for a shape, and the workspace
// where CTAs leave unfinished tiles.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "arch/error.hpp"
#include "arch/units.hpp"
#include "kernels/dense_gemm/args.cuh"
#include "kernels/dense_gemm/buffers.hpp"
#include "kernels/dense_gemm/config.hpp"
#include "kernels/dense_gemm/descriptor.hpp"
#include "kernels/dense_gemm/live.hpp"
#include "kernels/dense_gemm/tma.cuh"
#include "kernels/dense_gemm/variant_symbols.hpp"
#include "kernels/device_check.hpp"

namespace smtwin {
namespace gemm {
#define SMTWIN_GEMM(...) CompiledGemm SMTWIN_GEMM_ENTRY(__VA_ARGS__)();
#include "kernels/dense_gemm/variants.def"
#undef SMTWIN_GEMM
}  // namespace gemm

namespace {

constexpr std::int64_t kWorkspaceSplits = 8;  // larger split_k may find the workspace too small
constexpr std::int64_t kWorkspaceLimit = kGiB;
constexpr std::int32_t kWarpThreads = 32;

struct Variant {
  DenseGemmTile tile;
  gemm::CompiledGemm compiled;
};

const std::vector<Variant>& compiled_variants() {
  static const std::vector<Variant> variants = [] {
    const gemm::CompiledGemm compiled[] = {
#define SMTWIN_GEMM(...) gemm::SMTWIN_GEMM_ENTRY(__VA_ARGS__)(),
#include "kernels/dense_gemm/variants.def"
#undef SMTWIN_GEMM
    };
    std::vector<Variant> all;
    for (std::size_t i = 0; i < std::size(compiled); ++i) {
      all.push_back({gemm_variants().at(i), compiled[i]});
    }
    return all;
  }();
  return variants;
}

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check_cuda(cudaGetDevice(&device), "current device");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "device attribute");
  return value;
}

// True also where there is no GPU to ask.
bool runs_here(const DenseGemmTile& tile) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return true;
  return !tile.wgmma || device_attribute(cudaDevAttrComputeCapabilityMajor) == 9;
}

const Variant& find_variant(const Parameters& config) {
  const DenseGemmTile tile = gemm_tile(config);
  for (const auto& variant : compiled_variants()) {
    if (variant.tile == tile) return variant;
  }
  throw UsageError("dense_gemm: " + make_dense_gemm()->compact_config(config) + " is not one of " +
                   std::to_string(compiled_variants().size()) +
                   " compiled variants; add it to kernels/dense_gemm/variants.def");
}

// CTAs of a variant that the device holds at once; none resident where not even one fits an SM.
GemmSlots slots_of(const Variant& variant) {
  int resident = 0;
  const auto bytes = variant.compiled.shared_bytes;
  const auto sm_count = device_attribute(cudaDevAttrMultiProcessorCount);
  if (bytes > device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) return {0, sm_count};
  check_cuda(
      cudaFuncSetAttribute(variant.compiled.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(bytes)),
      "shared memory of " + gemm_symbol(variant.tile));
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, variant.compiled.function,
                                                           kWarpThreads * gemm_warps(variant.tile),
                                                           static_cast<std::size_t>(bytes)),
             "residency of " + gemm_symbol(variant.tile));
  return {resident, sm_count};
}

std::int64_t workspace_bytes(const DenseGemmTile& tile, const StreamK& work) {
  return std::int64_t{work.ctas} * kPartialsPerCta * gemm_partial_bytes(tile);
}

GemmSlots slots_that_fit(const Variant& variant) {
  const GemmSlots slots = slots_of(variant);
  if (slots.resident == 0) {
    const auto limit = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    throw DeviceError(
        gemm_symbol(variant.tile) + ": " + std::to_string(variant.compiled.shared_bytes) +
        " bytes of shared memory a CTA, " + std::to_string(variant.compiled.shared_bytes - limit) +
        " more than this GPU has; choose fewer stages");
  }
  return slots;
}

// Rows of bytes, whatever the elements: boxes of `rows` x 128 bytes in the 128-byte swizzle.
gemm::TensorMap tensor_map(const char* matrix, std::int32_t height, std::int32_t row_bytes,
                           std::int32_t rows) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                cudaEnableDefault, &found),
               "looking for cuTensorMapEncodeTiled");
    if (found != cudaDriverEntryPointSuccess) {
      throw DeviceError("the driver has no cuTensorMapEncodeTiled; it must be of CUDA 12 or later");
    }
    return reinterpret_cast<Encode>(function);
  }();
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(row_bytes), static_cast<cuuint64_t>(height)};
  const cuuint64_t stride = static_cast<cuuint64_t>(row_bytes);
  const cuuint32_t box[] = {static_cast<cuuint32_t>(kGemmRowBytes), static_cast<cuuint32_t>(rows)};
  const cuuint32_t steps[] = {1, 1};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<char*>(matrix), sizes, &stride, box,
             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw DeviceError("cuTensorMapEncodeTiled answered " + std::to_string(result) + " for " +
                      std::to_string(height) + " rows of " + std::to_string(row_bytes) + " bytes");
  }
  gemm::TensorMap encoded;
  static_assert(sizeof encoded.bytes == sizeof map);
  std::memcpy(encoded.bytes, &map, sizeof map);
  return encoded;
}

struct Workspace {
  std::int64_t partial_bytes = 0;
  std::int64_t tiles = 0;
};

// Enough for every variant under the rule, and for a fixed split within reason.
Workspace workspace_for(const DenseGemmShape& shape) {
  Workspace need{.partial_bytes = 16, .tiles = 1};
  for (const auto& variant : compiled_variants()) {
    if (variant.tile.dtype != shape.dtype || !runs_here(variant.tile)) continue;
    const auto slots = slots_of(variant);
    if (slots.resident == 0 || !gemm_partition_problem(shape, variant.tile, 0).empty()) continue;
    const auto rule = gemm_partition(shape, variant.tile, 0, slots);
    const auto split = gemm_partition(shape, variant.tile, kWorkspaceSplits, slots);
    need.tiles = std::max<std::int64_t>(need.tiles, rule.tiles);
    need.partial_bytes =
        std::max({need.partial_bytes, workspace_bytes(variant.tile, rule),
                  std::min(workspace_bytes(variant.tile, split), kWorkspaceLimit)});
  }
  return need;
}

class DenseGemmProblem final : public LiveProblem {
 public:
  DenseGemmProblem(const DenseGemmShape& shape, std::uint64_t seed)
      : buffers_(shape, seed),
        need_(workspace_for(shape)),
        partials_(need_.partial_bytes, "partial sums of dense_gemm"),
        arrived_(need_.tiles * 4, "tile counters of dense_gemm") {
    arrived_.fill(0, nullptr);
    check_cuda(cudaDeviceSynchronize(), "setting up a GEMM");
  }

  void poison(DeviceStream stream) override {
    buffers_.poison(stream);
    partials_.fill(0xFF, stream);
  }

  void launch(const Parameters& config, DeviceStream stream, CtaTrace* trace) override {
    const Variant& variant = find_variant(config);
    const DenseGemmShape& shape = buffers_.shape();
    const GemmSlots slots = slots_that_fit(variant);
    const StreamK work = partition(variant, slots, config);
    const auto cluster_ctas = gemm_cluster_ctas(variant.tile, work, slots);
    const bool through_memory = work.ctas != work.tiles && cluster_ctas == 1;
    if (through_memory && workspace_bytes(variant.tile, work) > partials_.bytes()) {
      throw UsageError("dense_gemm: split_k = " + std::to_string(config.at("split_k")) +
                       " needs a larger workspace than this problem has; use at most " +
                       std::to_string(kWorkspaceSplits));
    }
    gemm::GemmArgs args;
    args.a = static_cast<const char*>(buffers_.a());
    args.w = static_cast<const char*>(buffers_.w());
    args.d = static_cast<std::uint16_t*>(buffers_.d());
    args.scale_a = buffers_.scale_a();
    args.scale_w = buffers_.scale_w();
    args.partials = static_cast<float4*>(partials_.get());
    args.arrived = static_cast<std::uint32_t*>(arrived_.get());
    args.m = static_cast<std::int32_t>(shape.m);
    args.n = static_cast<std::int32_t>(shape.n);
    args.row_bytes = static_cast<std::int32_t>(shape.k * element_bytes(shape.dtype));
    args.a_box_rows = std::min(args.m, variant.tile.block_m);
    args.tiles_m = ceil_div(args.m, variant.tile.block_m);
    args.work = work;
    args.cluster_ctas = cluster_ctas;
    gemm::TensorMaps maps;
    if (variant.tile.wgmma) {
      maps.w = tensor_map(args.w, args.n, args.row_bytes, variant.tile.block_n);
      maps.a = tensor_map(args.a, args.m, args.row_bytes, args.a_box_rows);
    }
    void* parameters[] = {&args, &trace, &maps};  // mma.sync variants take the first two
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(args.cluster_ctas), 1, 1};
    cudaLaunchConfig_t launch{};
    launch.gridDim = dim3(static_cast<unsigned>(work.ctas));
    launch.blockDim = dim3(static_cast<unsigned>(kWarpThreads * gemm_warps(variant.tile)));
    launch.dynamicSmemBytes = static_cast<std::size_t>(variant.compiled.shared_bytes);
    launch.stream = static_cast<cudaStream_t>(stream);
    launch.attrs = &cluster;
    launch.numAttrs = args.cluster_ctas > 1 ? 1 : 0;
    check_cuda(cudaLaunchKernelExC(&launch, variant.compiled.function, parameters),
               "launch of " + gemm_symbol(variant.tile));
  }

  std::int64_t ctas(const Parameters& config) const override {
    const Variant& variant = find_variant(config);
    return partition(variant, slots_that_fit(variant), config).ctas;
  }

  double relative_error() override { return buffers_.relative_error(); }

 private:
  StreamK partition(const Variant& variant, const GemmSlots& slots,
                    const Parameters& config) const {
    const DenseGemmShape& shape = buffers_.shape();
    if (variant.tile.dtype != shape.dtype) {
      throw UsageError("dense_gemm: block_k " + std::to_string(variant.tile.block_k) + " is " +
                       to_string(variant.tile.dtype) + "'s, the problem is " +
                       to_string(shape.dtype));
    }
    const auto split_k = config.at("split_k");
    const auto problem = gemm_partition_problem(shape, variant.tile, split_k);
    if (!problem.empty()) throw UsageError("dense_gemm: " + problem);
    return gemm_partition(shape, variant.tile, split_k, slots);
  }

  GemmBuffers buffers_;
  Workspace need_;
  DeviceMemory partials_, arrived_;
};

class DenseGemmLive final : public LiveKernel {
 public:
  std::string name() const override { return "dense_gemm"; }

  std::vector<Parameters> variants() const override {
    std::vector<Parameters> configs;
    for (const auto& variant : compiled_variants()) {
      if (runs_here(variant.tile)) configs.push_back(gemm_config(variant.tile));
    }
    return configs;
  }

  std::vector<CompiledFunction> functions(const Parameters& config) const override {
    const Variant& variant = find_variant(config);
    CompiledFunction function;
    function.symbol = gemm_symbol(variant.tile);
    function.function = variant.compiled.function;
    function.threads_per_cta = kWarpThreads * gemm_warps(variant.tile);
    function.dynamic_shared_bytes = variant.compiled.shared_bytes;
    return {function};
  }

  std::unique_ptr<LiveProblem> make_problem(const Parameters& shape,
                                            std::uint64_t seed) const override {
    return std::make_unique<DenseGemmProblem>(gemm_shape(shape), seed);
  }
};

}  // namespace

std::unique_ptr<LiveKernel> make_dense_gemm_live() { return std::make_unique<DenseGemmLive>(); }

}  // namespace smtwin

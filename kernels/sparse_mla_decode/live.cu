// SPDX-License-Identifier: Apache-2.0
// Launches sparse_mla_decode: one problem with its inputs, workspaces and outputs on the GPU.
#include "kernels/sparse_mla_decode/live.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>

#include "arch/error.hpp"
#include "arch/units.hpp"
#include "kernels/sparse_mla_decode/check.hpp"
#include "kernels/sparse_mla_decode/compiled_variants.hpp"
#include "kernels/sparse_mla_decode/descriptor.hpp"
#include "kernels/sparse_mla_decode/device_array.cuh"
#include "kernels/sparse_mla_decode/problem_inputs.hpp"
#include "kernels/sparse_mla_decode/reference.hpp"
#include "kernels/sparse_mla_decode/storage.cuh"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

// Splits a workspace holds at least, so that more than the rule's can be tried.
constexpr std::int64_t kWorkspaceSplits = 16;
constexpr std::int64_t kLargestExtraWorkspaceRows = std::int64_t{1} << 18;

Parameters parameters_of(const SparseMlaTile& tile) {
  return {{"block_h", tile.block_h},
          {"block_t", tile.block_t},
          {"num_warps", tile.num_warps},
          {"num_stages", tile.num_stages}};
}

// What the split rule and the check of a configuration need to know of the current device.
struct Device {
  std::int64_t sm_count = 1;
  std::int64_t shared_bytes_per_cta = 0;

  static Device current() {
    int device = 0, sms = 0, shared = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
               "count of SMs");
    check_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               "shared memory of a CTA");
    return {sms, shared};
  }
};

// A variant ready to be launched, and how many CTAs of it an SM holds (0: does not fit).
struct ReadyVariant {
  const SparseMlaCompiled* compiled = nullptr;
  int ctas_per_sm = 0;
};

std::vector<ReadyVariant> ready_variants(const Device& device) {
  std::vector<ReadyVariant> ready;
  for (const auto& compiled : sparse_mla_compiled_variants()) {
    ReadyVariant variant{&compiled, 0};
    if (compiled.shared_bytes <= device.shared_bytes_per_cta) {
      const auto bytes = static_cast<int>(compiled.shared_bytes);
      check_cuda(cudaFuncSetAttribute(compiled.function,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 std::string("shared memory of ") + compiled.symbol);
      check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&variant.ctas_per_sm,
                                                               compiled.function, compiled.threads,
                                                               static_cast<std::size_t>(bytes)),
                 std::string("residency of ") + compiled.symbol);
    }
    ready.push_back(variant);
  }
  return ready;
}

class SparseMlaProblem final : public LiveProblem {
 public:
  SparseMlaProblem(const Parameters& shape, std::uint64_t seed)
      : shape_(shape),
        seed_(seed),
        device_(Device::current()),
        variants_(ready_variants(device_)),
        selection_(draw_sparse_mla_selection(shape_, seed)),
        cache_(
            static_cast<std::size_t>(saturating_mul(shape_.slots(), std::int64_t{kMlaTokenBytes})),
            "the cache"),
        q_(output_values(), "Q"),
        indices_(selection_.indices, "the indices"),
        lengths_(selection_.lengths, "the lengths"),
        sinks_(selection_.sinks, "the sinks"),
        out_(output_values(), "the output"),
        partial_out_(static_cast<std::size_t>(workspace_rows() * kMlaHeadDim),
                     "the partial outputs"),
        partial_log_sum_(static_cast<std::size_t>(workspace_rows()), "the log-sums") {
    fill_sparse_mla_cache(cache_.data(), shape_, seed);
    fill_sparse_mla_query(q_.data(), shape_, seed);
    check_cuda(cudaDeviceSynchronize(), "drawing the inputs of sparse_mla_decode");
  }

  void poison(DeviceStream stream) override {
    const auto at = static_cast<cudaStream_t>(stream);
    constexpr int kNanByte = 0xff;
    check_cuda(cudaMemsetAsync(out_.data(), kNanByte, out_.bytes(), at), "poison");
    check_cuda(cudaMemsetAsync(partial_out_.data(), kNanByte, partial_out_.bytes(), at), "poison");
    check_cuda(cudaMemsetAsync(partial_log_sum_.data(), kNanByte, partial_log_sum_.bytes(), at),
               "poison");
  }

  void launch(const Parameters& config, DeviceStream stream, CtaTrace* trace) override {
    const ReadyVariant& variant = variant_of(config);
    const SparseMlaCompiled& compiled = *variant.compiled;
    if (variant.ctas_per_sm == 0) {
      throw DeviceError(std::string(compiled.symbol) + " needs " +
                        with_separators(compiled.shared_bytes) + " B of shared memory a CTA, " +
                        with_separators(compiled.shared_bytes - device_.shared_bytes_per_cta) +
                        " B over what this GPU grants");
    }
    const Splits splits = splits_of(config);
    if (!splits.joined && splits.count > 1 &&
        saturating_mul(splits.count, shape_.batch * shape_.heads) > workspace_rows()) {
      throw DeviceError("nsplit " + std::to_string(splits.count) +
                        ": more partial outputs than this problem has room for");
    }
    device::SparseMlaArguments arguments;
    arguments.q = q_.data();
    arguments.cache = cache_.data();
    arguments.indices = indices_.data();
    arguments.lengths = lengths_.data();
    arguments.sinks = sinks_.data();
    arguments.out = out_.data();
    arguments.partial_out = partial_out_.data();
    arguments.partial_log_sum = partial_log_sum_.data();
    arguments.trace = trace;
    arguments.scale = static_cast<float>(shape_.scale());
    arguments.heads = static_cast<std::int32_t>(shape_.heads);
    arguments.topk = static_cast<std::int32_t>(shape_.topk);
    arguments.page_size = static_cast<std::int32_t>(shape_.page_size);
    arguments.splits = static_cast<std::int32_t>(splits.count);
    arguments.joined = splits.joined;

    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(static_cast<unsigned>(shape_.batch), static_cast<unsigned>(splits.groups),
                          static_cast<unsigned>(splits.count));
    launch.blockDim = dim3(static_cast<unsigned>(compiled.threads));
    launch.dynamicSmemBytes = static_cast<std::size_t>(compiled.shared_bytes);
    launch.stream = static_cast<cudaStream_t>(stream);
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {1, 1, launch.gridDim.z};
    launch.attrs = &cluster;
    launch.numAttrs = splits.joined ? 1 : 0;
    void* values[] = {&arguments};
    check_cuda(cudaLaunchKernelExC(&launch, compiled.function, values),
               std::string("launch of ") + compiled.symbol);
    if (splits.count == 1 || splits.joined) return;

    // It may be put on the SMs while the main kernel drains, and waits there.
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t combine = {};
    std::int64_t rows = shape_.batch * shape_.heads;
    combine.gridDim = dim3(static_cast<unsigned>(sparse_mla_combine_ctas(rows)));
    combine.blockDim = dim3(kSparseMlaCombineThreads);
    combine.stream = launch.stream;
    void* combine_values[] = {&arguments, &rows};
    combine.attrs = &early;
    combine.numAttrs = 1;
    check_cuda(cudaLaunchKernelExC(&combine, sparse_mla_combine_function(), combine_values),
               std::string("launch of ") + kSparseMlaCombineSymbol);
  }

  std::int64_t ctas(const Parameters& config) const override {
    const Splits splits = splits_of(config);
    return shape_.batch * splits.groups * splits.count;
  }

  double relative_error() override {
    check_cuda(cudaDeviceSynchronize(), "sparse_mla_decode");
    const auto out = out_.to_host();
    if (!all_finite_bf16(out)) return std::numeric_limits<double>::infinity();
    const auto q = q_.to_host();
    const SparseMlaSample sample = sample_sparse_mla_rows(shape_.batch, shape_.heads, seed_);
    SquaredError sum;
    for (const std::int64_t request : sample.requests) {
      const auto tokens = tokens_of(request);
      SparseMlaRequest rows;
      rows.tokens = tokens;
      rows.scale = static_cast<float>(shape_.scale());
      for (const std::int64_t head : sample.heads) {
        const auto at = static_cast<std::size_t>((request * shape_.heads + head) * kMlaHeadDim);
        rows.q.push_back(std::span(q).subspan(at, kMlaHeadDim));
        rows.out.push_back(std::span(out).subspan(at, kMlaHeadDim));
        rows.sinks.push_back(selection_.sinks[static_cast<std::size_t>(head)]);
      }
      const SquaredError error = compare_sparse_mla(rows);
      sum.difference += error.difference;
      sum.reference += error.reference;
    }
    return smtwin::relative_error(sum);
  }

 private:
  struct Splits {
    std::int64_t groups = 1;
    std::int64_t count = 1;
    bool joined = false;
  };

  std::size_t output_values() const {
    return static_cast<std::size_t>(shape_.batch * shape_.heads * kMlaHeadDim);
  }

  SparseMlaTile tile_of(const Parameters& config) const {
    Parameters with_shape = config;
    with_shape["heads"] = shape_.heads;
    with_shape["batch"] = shape_.batch;
    with_shape["topk"] = shape_.topk;
    return sparse_mla_tile(with_shape, device_.shared_bytes_per_cta, device_.sm_count);
  }

  const ReadyVariant& variant_of(const Parameters& config) const {
    const SparseMlaTile tile = tile_of(config);
    for (const auto& variant : variants_) {
      if (variant.compiled->tile == tile) return variant;
    }
    throw DeviceError(sparse_mla_symbol(tile) + " was not compiled");
  }

  Splits splits_of(const Parameters& config) const {
    const ReadyVariant& variant = variant_of(config);
    const auto value_or = [&](const char* name, std::int64_t otherwise) {
      const auto found = config.find(name);
      return found == config.end() ? otherwise : found->second;
    };
    Splits splits = splits_of(variant, value_or("nsplit", 0));
    splits.joined =
        value_or("join", 1) != 0 && sparse_mla_joins(variant.compiled->tile, splits.count);
    return splits;
  }
  Splits splits_of(const ReadyVariant& variant, std::int64_t wanted) const {
    const SparseMlaTile& tile = variant.compiled->tile;
    Splits splits;
    splits.groups = ceil_div<std::int64_t>(shape_.heads, tile.block_h);
    splits.count =
        wanted > 0
            ? std::min<std::int64_t>(wanted, ceil_div<std::int64_t>(shape_.topk, tile.block_t))
            : sparse_mla_split_count({.tile = tile,
                                      .batch = shape_.batch,
                                      .heads = shape_.heads,
                                      .topk = shape_.topk,
                                      .sm_count = device_.sm_count,
                                      .ctas_per_sm = std::max(1, variant.ctas_per_sm)});
    return splits;
  }

  // Partial outputs that a launch may write: heads of all requests in all splits.
  std::int64_t workspace_rows() const {
    const std::int64_t rows = shape_.batch * shape_.heads;
    std::int64_t splits = std::min(kWorkspaceSplits, kLargestExtraWorkspaceRows / rows);
    for (const auto& variant : variants_) splits = std::max(splits, splits_of(variant, 0).count);
    return std::max<std::int64_t>(1, splits * rows);
  }

  std::vector<std::uint8_t> tokens_of(std::int64_t request) const {
    std::vector<MlaTokenOffsets> offsets;
    const std::int64_t length = selection_.lengths[static_cast<std::size_t>(request)];
    for (std::int64_t i = 0; i < length; ++i) {
      const auto slot = selection_.indices[static_cast<std::size_t>(request * shape_.topk + i)];
      if (slot >= 0) offsets.push_back(mla_token_offsets(slot, shape_.page_size));
    }
    if (offsets.empty()) return {};
    const SparseMlaArray<MlaTokenOffsets> where(offsets, "token offsets");
    const SparseMlaArray<std::uint8_t> tokens(offsets.size() * kMlaTokenBytes, "sampled tokens");
    collect_sparse_mla_tokens(tokens.data(), cache_.data(), where.data(),
                              static_cast<std::int64_t>(offsets.size()));
    return tokens.to_host();
  }

  SparseMlaProblemShape shape_;
  std::uint64_t seed_;
  Device device_;
  std::vector<ReadyVariant> variants_;
  SparseMlaSelection selection_;
  SparseMlaArray<std::uint8_t> cache_;
  SparseMlaArray<std::uint16_t> q_;
  SparseMlaArray<std::int32_t> indices_;
  SparseMlaArray<std::int32_t> lengths_;
  SparseMlaArray<float> sinks_;
  SparseMlaArray<std::uint16_t> out_;
  SparseMlaArray<std::uint16_t> partial_out_;
  SparseMlaArray<float> partial_log_sum_;
};

class LiveSparseMla final : public LiveKernel {
 public:
  std::string name() const override { return make_sparse_mla_decode()->name(); }

  std::vector<Parameters> variants() const override {
    std::vector<Parameters> configs;
    for (const auto& compiled : sparse_mla_compiled_variants()) {
      configs.push_back(parameters_of(compiled.tile));
    }
    return configs;
  }

  std::vector<CompiledFunction> functions(const Parameters& config) const override {
    // A default configuration (block_h 0) needs the shape and the device; others ignore both.
    Parameters with_shape = config;
    for (const char* name : {"heads", "batch", "topk"}) with_shape.try_emplace(name, 1);
    const Device device = config.at("block_h") == 0 ? Device::current() : Device{};
    const SparseMlaTile tile =
        sparse_mla_tile(with_shape, device.shared_bytes_per_cta, device.sm_count);
    const SparseMlaCompiled* compiled = find_sparse_mla_variant(tile);
    if (compiled == nullptr) throw DeviceError(sparse_mla_symbol(tile) + " was not compiled");
    return {
        {compiled->symbol, compiled->function, compiled->threads, compiled->shared_bytes, false},
        {kSparseMlaCombineSymbol, sparse_mla_combine_function(), kSparseMlaCombineThreads, 0,
         true}};
  }

  std::unique_ptr<LiveProblem> make_problem(const Parameters& shape,
                                            std::uint64_t seed) const override {
    return std::make_unique<SparseMlaProblem>(shape, seed);
  }
};

}  // namespace

std::unique_ptr<LiveKernel> make_live_sparse_mla_decode() {
  return std::make_unique<LiveSparseMla>();
}

}  // namespace smtwin

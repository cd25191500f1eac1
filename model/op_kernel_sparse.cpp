// SPDX-License-Identifier: Apache-2.0
// Sparse attention over packed latent rows on the kernel of the field notes: 512 values a head,
// 584 B a row (DeepSeek-V4), or 656 B (DeepSeek-V3.2, GLM-5; the same structure, longer rows).
// The list is the one production tuned over; entries that do not fit drop out.
#include <algorithm>
#include <bit>
#include <utility>

#include "arch/units.hpp"
#include "kernels/external/sparse_decode_fieldnotes/work.hpp"
#include "model/op_kernel.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kLargestBlockH = 32;
constexpr std::int64_t kRopeValues = 64;  // of a head, beside its latent values
struct ListedConfig {
  std::int64_t block_t, num_warps, num_stages;
};
constexpr ListedConfig kProductionList[] = {{16, 4, 2}, {32, 4, 2}, {32, 8, 2}};

// Packed rows are the fp8 layouts: fewer bytes than bf16 values would take.
bool shape_matches(const StepOp& op, double row_bytes) {
  const auto values = static_cast<std::int64_t>(kSparseDecodeHeadDim);
  const double bf16_bytes = 2.0 * static_cast<double>(op.head_dim);
  return op.v_head_dim == values && op.head_dim <= values + kRopeValues && row_bytes < bf16_bytes;
}

}  // namespace

std::vector<KernelInstance> sparse_attention_instances(const StepOp& op, const GpuSpec& gpu,
                                                       const KernelSettings& settings) {
  if (op.tokens <= 0 || op.sequences <= 0) return {};
  const double gathered = static_cast<double>(op.sequences) * static_cast<double>(op.tokens);
  const double row_bytes = op.kv_bytes / gathered;
  if (!shape_matches(op, row_bytes)) return {};

  const KernelDescriptor& kernel = find_kernel("sparse_decode_fieldnotes");
  const auto block_h =
      std::min(kLargestBlockH,
               static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(op.heads))));
  const auto pinned = settings.find(kernel.name());
  std::vector<Parameters> tried;
  std::vector<KernelInstance> instances;
  for (const ListedConfig& listed : kProductionList) {
    Parameters config = complete_parameters(kernel, {{"heads", op.heads},
                                                     {"topk", op.tokens},
                                                     {"batch", op.sequences},
                                                     {"block_h", block_h},
                                                     {"block_t", listed.block_t},
                                                     {"num_warps", listed.num_warps},
                                                     {"num_stages", listed.num_stages}});
    if (pinned != settings.end()) {
      for (const auto& [name, value] : pinned->second) config[name] = value;
    }
    if (std::find(tried.begin(), tried.end(), config) != tried.end()) continue;
    tried.push_back(config);
    KernelInstance instance = kernel.instantiate(config, gpu);
    // The rows of this model in place of the kernel's own.
    const double longer_row = row_bytes - kSparseDecodeCacheRowBytes;
    const auto ctas = static_cast<double>(instance.grid.ctas());
    const double rows_of_cta = gathered * static_cast<double>(instance.grid.y) / ctas;
    instance.work.global_read_bytes += rows_of_cta * longer_row;
    instance.work.step_read_bytes += rows_of_cta * longer_row / std::max(1.0, instance.work.steps);
    instance.unique_read_bytes += gathered * longer_row;
    instances.push_back(std::move(instance));
  }
  return instances;
}

}  // namespace smtwin

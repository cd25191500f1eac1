// SPDX-License-Identifier: Apache-2.0
// The list of kernels the twin knows, in the order reports show them.
#include <algorithm>

#include "arch/error.hpp"
#include "kernels/dense_gemm/descriptor.hpp"
#include "kernels/descriptor.hpp"
#include "kernels/external/cutlass_nvfp4/descriptor.hpp"
#include "kernels/external/sparse_decode_fieldnotes/descriptor.hpp"
#include "kernels/external/triton_gemm/descriptor.hpp"
#include "kernels/external/triton_moe_gemm/descriptor.hpp"
#include "kernels/sparse_mla_decode/descriptor.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

std::vector<std::unique_ptr<KernelDescriptor>> make_registry() {
  std::vector<std::unique_ptr<KernelDescriptor>> kernels;
  kernels.push_back(make_sparse_mla_decode());
  kernels.push_back(make_dense_gemm());
  kernels.push_back(make_triton_gemm());
  kernels.push_back(make_triton_moe_gemm());
  kernels.push_back(make_cutlass_nvfp4());
  kernels.push_back(make_sparse_decode_fieldnotes());
  return kernels;
}

std::string normalized(const std::string& text) {
  std::string name = lower_case(text);
  std::replace(name.begin(), name.end(), '-', '_');
  const std::string prefix = "external/";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace

const std::vector<std::unique_ptr<KernelDescriptor>>& kernel_registry() {
  static const auto registry = make_registry();
  return registry;
}

const KernelDescriptor& find_kernel(const std::string& name) {
  const std::string wanted = normalized(name);
  std::string known;
  for (const auto& kernel : kernel_registry()) {
    if (kernel->name() == wanted) return *kernel;
    known += (known.empty() ? "" : ", ") + kernel->name();
  }
  throw UsageError("unknown kernel \"" + name + "\"; known: " + known);
}

}  // namespace smtwin

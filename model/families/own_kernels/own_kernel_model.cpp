// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/own_kernel_model.hpp"

#include <algorithm>

#include "arch/error.hpp"
#include "model/families/own_kernels/dense_gemm_time.hpp"
#include "model/families/own_kernels/sparse_mla_time.hpp"
#include "model/families/own_kernels/triton_sparse_time.hpp"

namespace smtwin {
namespace {

constexpr const char* kTritonSparse = "triton_sparse_mla_split";
constexpr const char* kSparseMla = "sparse_mla_decode";
constexpr const char* kDenseGemm = "dense_gemm";

struct KnownKernel {
  const char* kernel;
  const char* descriptor;
};
constexpr KnownKernel kKernels[] = {
    {kSparseMla, "sparse_mla_decode"},
    {kDenseGemm, "dense_gemm"},
    {kTritonSparse, "sparse_decode_fieldnotes"},
};

// The data type by name, where the kernel has one.
std::string dtype_of(const KernelDescriptor& descriptor, const Parameters& parameters) {
  for (const ParameterSpec& spec : descriptor.parameters()) {
    if (spec.name == "dtype") return format_parameter(spec, parameters.at("dtype"));
  }
  return "";
}

}  // namespace

FamilyIdentity OwnKernelFamily::identity() const {
  return {.table = "run", .kernel_source = kernel, .dtype = dtype};
}

OwnKernelFamily own_kernel_family(const KernelDescriptor& descriptor,
                                  const Parameters& parameters) {
  for (const KnownKernel& k : kKernels) {
    if (descriptor.name() != k.descriptor) continue;
    return {
        .kernel = k.kernel, .descriptor = k.descriptor, .dtype = dtype_of(descriptor, parameters)};
  }
  return {};
}

const KernelDescriptor* descriptor_of_run_kernel(std::string_view kernel) {
  for (const KnownKernel& k : kKernels) {
    if (kernel == k.kernel) return &find_kernel(k.descriptor);
  }
  return nullptr;
}

std::unique_ptr<OwnKernelModel> own_kernel_model(const OwnKernelFamily& family, const GpuSpec& gpu,
                                                 const ProbedGpu* probed) {
  const ProbedGpu start = probed ? *probed : assumed_probes(gpu);
  if (family.kernel == kTritonSparse) return std::make_unique<TritonSparseModel>(gpu, start);
  if (family.kernel == kSparseMla) return std::make_unique<SparseMlaModel>(gpu, start);
  if (family.kernel == kDenseGemm) return std::make_unique<DenseGemmModel>(gpu, start);
  throw UsageError("kernel \"" + family.kernel + "\" has no time model of its own");
}

}  // namespace smtwin

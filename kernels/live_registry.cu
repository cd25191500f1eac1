// SPDX-License-Identifier: Apache-2.0
// The kernels of this build that can run, in the order reports show them: ours as the descriptors
// are listed, then the libraries measured beside them.
#include "kernels/dense_gemm/live.hpp"
#include "kernels/live_kernel.hpp"
#include "kernels/sparse_mla_decode/live.hpp"

namespace smtwin {

const std::vector<std::unique_ptr<LiveKernel>>& live_kernels() {
  static const auto kernels = [] {
    std::vector<std::unique_ptr<LiveKernel>> list;
    list.push_back(make_live_sparse_mla_decode());
    list.push_back(make_dense_gemm_live());
    list.push_back(make_cublas_gemm_live());
    return list;
  }();
  return kernels;
}

}  // namespace smtwin

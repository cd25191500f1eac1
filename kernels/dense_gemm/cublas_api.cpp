// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense_gemm/cublas_api.hpp"

#include <dlfcn.h>

#include <initializer_list>

namespace smtwin::cublas {
namespace {

void* open_first(std::initializer_list<const char*> names, std::string& problem) {
  std::string tried;
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    tried += (tried.empty() ? "" : ", ") + std::string(name);
  }
  if (problem.empty()) {
    problem = "no cuBLAS found (tried " + tried + "); add its folder to LD_LIBRARY_PATH";
  }
  return nullptr;
}

template <typename Function>
void find(void* library, const char* name, Function& function, std::string& problem) {
  if (library == nullptr) return;
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && problem.empty()) {
    problem = std::string("the cuBLAS found has no ") + name + "; use one of CUDA 12 or 13";
  }
}

Loaded load_now() {
  Loaded loaded;
  auto& [api, problem] = loaded;
  // The library proper opens cuBLASLt by name, so that one comes first.
  void* lt = open_first({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}, problem);
  void* blas = open_first({"libcublas.so.13", "libcublas.so.12", "libcublas.so"}, problem);
  find(blas, "cublasCreate_v2", api.create, problem);
  find(blas, "cublasDestroy_v2", api.destroy, problem);
  find(blas, "cublasSetStream_v2", api.set_stream, problem);
  find(blas, "cublasSetWorkspace_v2", api.set_workspace, problem);
  find(blas, "cublasGemmEx", api.gemm_ex, problem);
  find(lt, "cublasLtCreate", api.lt_create, problem);
  find(lt, "cublasLtDestroy", api.lt_destroy, problem);
  find(lt, "cublasLtMatmulDescCreate", api.desc_create, problem);
  find(lt, "cublasLtMatmulDescDestroy", api.desc_destroy, problem);
  find(lt, "cublasLtMatmulDescSetAttribute", api.desc_set, problem);
  find(lt, "cublasLtMatrixLayoutCreate", api.layout_create, problem);
  find(lt, "cublasLtMatrixLayoutDestroy", api.layout_destroy, problem);
  find(lt, "cublasLtMatmulPreferenceCreate", api.preference_create, problem);
  find(lt, "cublasLtMatmulPreferenceDestroy", api.preference_destroy, problem);
  find(lt, "cublasLtMatmulPreferenceSetAttribute", api.preference_set, problem);
  find(lt, "cublasLtMatmulAlgoGetHeuristic", api.heuristic, problem);
  find(lt, "cublasLtMatmul", api.matmul, problem);
  return loaded;
}

}  // namespace

const Loaded& load() {
  static const Loaded loaded = load_now();
  return loaded;
}

}  // namespace smtwin::cublas

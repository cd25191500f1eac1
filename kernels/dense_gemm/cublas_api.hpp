// SPDX-License-Identifier: Apache-2.0
// The few entry points of cuBLAS and cuBLASLt that the peer needs, found at run time: smtwin
// neither links nor ships them. Types and values as in cublas_v2.h and cublasLt.h of CUDA 13.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace smtwin::cublas {

using Status = int;
using Handle = void*;
using LtHandle = void*;
using Opaque = void*;  // matmul and layout descriptors, preferences

inline constexpr Status kSuccess = 0;
inline constexpr int kOpN = 0, kOpT = 1;
inline constexpr int kReal32F = 0, kReal16Bf = 14, kRealE4m3 = 28;  // cudaDataType
inline constexpr int kCompute32F = 68;
inline constexpr int kGemmDefault = -1;
inline constexpr int kDescTransA = 3, kDescTransB = 4, kDescScaleA = 17, kDescScaleB = 18,
                     kDescFastAccumulation = 25;
inline constexpr int kPreferenceWorkspaceBytes = 1;

struct LtAlgorithm {
  std::uint64_t data[8];
};
struct LtHeuristic {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

struct Api {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_stream)(Handle, void*);
  Status (*set_workspace)(Handle, void*, std::size_t);
  Status (*gemm_ex)(Handle, int, int, int, int, int, const void*, const void*, int, int,
                    const void*, int, int, const void*, void*, int, int, int, int);
  Status (*lt_create)(LtHandle*);
  Status (*lt_destroy)(LtHandle);
  Status (*desc_create)(Opaque*, int, int);
  Status (*desc_destroy)(Opaque);
  Status (*desc_set)(Opaque, int, const void*, std::size_t);
  Status (*layout_create)(Opaque*, int, std::uint64_t, std::uint64_t, std::int64_t);
  Status (*layout_destroy)(Opaque);
  Status (*preference_create)(Opaque*);
  Status (*preference_destroy)(Opaque);
  Status (*preference_set)(Opaque, int, const void*, std::size_t);
  Status (*heuristic)(LtHandle, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, int, LtHeuristic*,
                      int*);
  Status (*matmul)(LtHandle, Opaque, const void*, const void*, Opaque, const void*, Opaque,
                   const void*, const void*, Opaque, void*, Opaque, const LtAlgorithm*, void*,
                   std::size_t, void*);
};

struct Loaded {
  Api api{};
  std::string problem;  // empty = usable
};

const Loaded& load();  // once

}  // namespace smtwin::cublas

// SPDX-License-Identifier: Apache-2.0
// Which measured kernel a serving framework runs for an op of a decode step, by format and GPU.
// Source: the kernel that each framework's own rows name (AIConfigurator performance database,
// commit 095f58a51c4c: vLLM 0.24, SGLang 0.5.14, TensorRT-LLM 1.3.0rc20). Where a framework's rows
// cannot serve a deployment (timed from the host; zero weights that draw less power) another
// framework's rows of the same library stand in.
#pragma once

#include <string>
#include <vector>

#include "model/families/attention/attention_shape.hpp"
#include "model/families/gemm/gemm_implementation.hpp"
#include "model/families/mla/mla_shape.hpp"
#include "model/families/moe/moe_shape.hpp"
#include "model/model_spec.hpp"
#include "model/timing/profile.hpp"

namespace smtwin {

// Candidates in order of preference: those of `framework` first, then the others. Empty when no
// framework's rows know the format on such a GPU.
std::vector<FamilyIdentity> gemm_kernels(ServingFramework framework, NumberFormat weights,
                                         const TimingGpu& gpu);
std::vector<FamilyIdentity> batched_gemm_kernels(ServingFramework framework, NumberFormat weights,
                                                 const TimingGpu& gpu);

struct AttentionKernel {
  FamilyIdentity identity;
  AttentionFamily family;
};
std::vector<AttentionKernel> attention_kernels(ServingFramework framework, NumberFormat kv,
                                               std::int64_t head_dim, const TimingGpu& gpu);

// Latent attention. vLLM has rows of whole modules only; another framework's kernel stands in.
struct LatentKernel {
  FamilyIdentity identity;
  MlaFamily family;
};
std::vector<LatentKernel> latent_attention_kernels(ServingFramework framework, NumberFormat kv,
                                                   const TimingGpu& gpu);

struct ExpertKernel {
  FamilyIdentity identity;
  MoeImplementation implementation;
};
std::vector<ExpertKernel> expert_kernels(ServingFramework framework, NumberFormat weights,
                                         const TimingGpu& gpu);

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Which kernel a serving framework runs for a dense GEMM or an absorbed MLA projection, as far as
// its time depends on it: format, how the tile is found, which effects exist. Named as the measured
// tables name it (framework, kernel source, dtype).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/families/gemm/gemm_tile_rules.hpp"
#include "model/timing/serving_framework.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

enum class GemmLibrary : std::uint8_t {
  cublas,
  cutlass_fp8,
  cutlass_block_fp8,
  cutlass_nvfp4,
  deepgemm,
  first_deepgemm,  // TensorRT-LLM's and FlashInfer's copy of an early release
  block_fp8_sm120
};

struct GemmImplementation {
  ServingFramework framework = ServingFramework::vllm;
  GemmDtype dtype = GemmDtype::bf16;
  GemmLibrary provider = GemmLibrary::cublas;
  bool batched = false;

  // One of the two: the library's rule, or candidates from which the fastest is taken.
  GemmTileRule rule = nullptr;
  std::span<const GemmTile> candidates;

  // The activations are quantized by a kernel of their own in front of the GEMM.
  bool quantizes() const { return dtype != GemmDtype::bf16; }
  // Reads of the 16-bit activations: two if it finds a scale of the whole tensor first.
  double quant_passes = 1;
  // That kernel handles a row's heads together: its row-bound time counts tokens, not tokens x
  // heads.
  bool quantizes_whole_tokens = false;
  // It takes rows one after another, so a row from DRAM or of several blocks takes longer.
  bool rows_in_turn = false;

  // Effects of this kernel; the others are absent from its constants.
  bool step_latency = true;          // time of a dependent K step
  bool cold_step_latency = true;     // a longer one when operands come from DRAM
  bool loaded_step_latency = false;  // a longer one when many SMs are busy
  bool sm_l2_rate = true;            // L2 -> one SM can bind
  bool padded_rows = false;          // rows beyond M in the last tile cost time (TMA boxes)
  bool split_k = false;
  // K is not split once the tiles x splits fill the GPU that many times. SM120 rows want no limit:
  // many splits there look like stream-K, which evens out the last wave.
  double most_split_rounds = 1e9;
  bool slow_large_tiles = false;  // 128x192 and 256x128 without a cluster
  bool power_limit = false;
  bool host_timed = false;  // the rows were timed without a CUDA graph

  // Persistent kernels that load, multiply and store at once: changing tiles and the K loop overlap
  // (CUTLASS ping-pong, DeepGEMM 2026); only the last tile's epilogue is left to wait for.
  bool overlaps_tile_change = false;

  // Sharpness of the overlap of a kernel's bounds: (sum t_i^p)^(1/p), p = 2 or 4.
  int overlap_norm = 4;
};

// Framework and dtype as the tables or serving_framework_from() spell them. The kernel source tells
// apart only vLLM's three block-scaled kernels on Hopper; it may be empty elsewhere. DataError
// names the known ones when nothing fits; also for a GPU that is neither SM90 nor SM120.
GemmImplementation gemm_implementation(std::string_view framework, std::string_view kernel_source,
                                       std::string_view dtype, const TimingGpu& gpu);
// A framework has at most one such kernel a format: BF16 in all of them, FP8 in SGLang and
// TensorRT-LLM.
GemmImplementation mla_bmm_implementation(std::string_view framework, std::string_view dtype,
                                          const TimingGpu& gpu);

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_constants.hpp"

#include <cstdlib>
#include <utility>

namespace smtwin {

MoeConstants::MoeConstants(const TimingGpu& gpu, const MoeImplementation& how) {
  at_.fill(-1);
  const bool triton = how.triton();
  const bool trtllm_triton = how.kernel == MoeKernel::triton_trtllm;
  const double us = 1e-6, ns = 1e-9, gb = 1e9;
  const double warm = gpu.hopper() ? 4000e9 : 3500e9;
  add(MoeConstant::dram_rate, {"dram_rate", "B/s", "DRAM read rate of a full grid", gpu.dram_read_bytes_per_s, .05,
                               .7 * gpu.dram_bytes_per_s, 1.05 * gpu.dram_bytes_per_s, true, {}});
  add(MoeConstant::fixed, {"t0", "s", "", 15 * us, 1, 1 * us, 90 * us});
  if (how.framework != MoeFramework::sglang)
    add(MoeConstant::replay, {"t_rep", "s", "", 1.5 * us, 1, .01 * us, 12 * us});
  add(MoeConstant::math_share, {"eff", "1", "", .6, .3, .05, .97});
  add(MoeConstant::step, {"tk", "s", "", .15 * us, .6, .005 * us, 3 * us});
  add(MoeConstant::tile, {"tt", "s", "", 1.5 * us, 1, .02 * us, 14 * us});
  add(MoeConstant::feed_rate, {"feed", "B/s", "", 40 * gb, .4, 8 * gb, 260 * gb});
  add(MoeConstant::warm_rate, {"warm", "B/s", "", warm, .3, 800 * gb, 12000 * gb});
  if (!triton) add(MoeConstant::per_expert, {"te", "s", "", 20 * ns, .7, .3 * ns, 800 * ns});
  add(MoeConstant::per_pair, {"tr", "s", "", .4 * ns, .8, .001 * ns, 20 * ns});
  add(MoeConstant::row_bytes, {"cr", "1", "", .8, .5, .03, 9});
  if (!triton || trtllm_triton) add(MoeConstant::per_column, {"th", "s", "", .7 * us, .7, .01 * us, 6 * us});
  if (!triton) add(MoeConstant::token_bytes, {"cT", "B", "", getenv("CT") ? (how.dtype==MoeDtype::bf16||how.kernel==MoeKernel::marlin||how.dtype==MoeDtype::mxfp4?2:how.dtype==MoeDtype::nvfp4?4.56:5) : 3, getenv("CT") ? atof(getenv("CT")) : .5, .3, 20});
  if (how.framework == MoeFramework::sglang && how.dtype == MoeDtype::nvfp4)
    add(MoeConstant::slow_topk, {"t_slow", "s", "", 20 * us, 1, .1 * us, 80 * us});
  if (getenv("ONE") ? how.framework == MoeFramework::vllm && how.dtype != MoeDtype::mxfp4 && how.dtype != MoeDtype::int4 : false)
    add(MoeConstant::input_weight, {"c_one", "B", "", 4, .7, .1, 60});
  if (how.kernel == MoeKernel::triton_vllm && !getenv("NOT1"))
    add(MoeConstant::single_expert, {"t_one", "s", "", 4 * us, 1, .05 * us, 40 * us});
  if (how.kernel == MoeKernel::triton_kernels)
    add(MoeConstant::ep_routing, {"t_ep", "s", "", 30 * us, 1, .5 * us, 120 * us});
  if (triton) {
    if (!getenv("OCC")) add(MoeConstant::resident, {"occ", "1", "", 3, .5, 1, 12});
    if (!trtllm_triton) add(MoeConstant::remote_tile, {"tc", "s", "", 1 * us, .7, .02 * us, 6 * us});
    if (trtllm_triton || (how.kernel == MoeKernel::triton_sglang && how.dtype == MoeDtype::bf16))
      add(MoeConstant::narrow_share, {"narrow", "1", "", .7, .15, .4, 1});
    if (gpu.hopper() && how.dtype == MoeDtype::bf16)
      add(MoeConstant::unaligned, {"unal", "1", "", 8, .5, 1, 60});
    if (gpu.hopper() && (how.dtype == MoeDtype::bf16 || how.kernel == MoeKernel::triton_vllm))
      add(MoeConstant::math_share_wide, {"eff1", "1", "", .6, .3, .05, .97});
  }
  if (getenv("TS") && (how.kernel == MoeKernel::cutlass || how.kernel == MoeKernel::flashinfer)) add(MoeConstant::sort, {"t_sort", "s", "", 3*us, .7, .1*us, 30*us});
  if (getenv("PADALL") ? !triton && how.kernel!=MoeKernel::marlin : how.kernel==MoeKernel::flashinfer && gpu.hopper() && how.dtype != MoeDtype::fp8_block) add(MoeConstant::empty_row, {"pad", "1", "", .5, .7, .01, 10});
  absent_[index(MoeConstant::narrow_share)] = 1;
  absent_[index(MoeConstant::unaligned)] = 1;
  if (triton) absent_[index(MoeConstant::per_expert)] = 5 * ns;
  if (triton) absent_[index(MoeConstant::per_column)] = .5 * us;
  absent_[index(MoeConstant::resident)] = 1;
}

void MoeConstants::add(MoeConstant c, ConstantSpec spec) {
  at_[index(c)] = static_cast<int>(specs_.size());
  specs_.push_back(std::move(spec));
}

}  // namespace smtwin

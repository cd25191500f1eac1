// SPDX-License-Identifier: Apache-2.0
#include "model/math_pipe.hpp"

namespace smtwin {

PipeRate tensor_rate(const SmRates& rates, MathPipe pipe) {
  switch (pipe) {
    case MathPipe::tf32:
      return {&rates.tensor_tf32_flops_per_cycle, "rates.tensor_tf32_flops_per_cycle"};
    case MathPipe::bf16:
      return {&rates.tensor_bf16_flops_per_cycle, "rates.tensor_bf16_flops_per_cycle"};
    case MathPipe::fp8:
      return {&rates.tensor_fp8_flops_per_cycle, "rates.tensor_fp8_flops_per_cycle"};
    case MathPipe::int8:
      return {&rates.tensor_int8_flops_per_cycle, "rates.tensor_int8_flops_per_cycle"};
    case MathPipe::mxfp8:
      return {&rates.tensor_mxfp8_flops_per_cycle, "rates.tensor_mxfp8_flops_per_cycle"};
    case MathPipe::nvfp4:
      return {&rates.tensor_nvfp4_flops_per_cycle, "rates.tensor_nvfp4_flops_per_cycle"};
    case MathPipe::fp32:
    case MathPipe::none:
      break;
  }
  return {&rates.fp32_flops_per_cycle, "rates.fp32_flops_per_cycle"};
}

}  // namespace smtwin

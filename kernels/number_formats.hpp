// SPDX-License-Identifier: Apache-2.0
// Values of the small number formats that our kernels read and write, exact in float64: what the
// CPU references compute with. Free of CUDA.
#pragma once

#include <cstdint>

namespace smtwin {

double bf16_value(std::uint16_t bits);
double e4m3_value(std::uint8_t bits);   // S1 E4 M3, bias 7, no infinity, 0x7F and 0xFF are NaN
double ue8m0_value(std::uint8_t bits);  // a power of two, bias 127, 0xFF is NaN

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// What the columns of latent-attention and DeepSeek-V4 rows say, in the model's terms; a DataError
// in one line for a text that nobody modelled.
#pragma once

#include <string_view>

#include "model/families/mla/mla_shape.hpp"
#include "model/families/mla/projections.hpp"
#include "model/timing/serving_framework.hpp"
#include "model/timing/timing_gpu.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

// Throws: table and line, column and text found, what is known.
[[noreturn]] void refuse_row(const MeasurementRow& row, std::string_view column,
                             std::string_view found, std::string_view known);

ServingFramework row_framework(const MeasurementRow& row);

bool row_fp8_kv(const MeasurementRow& row);
ProjectionType row_projection_type(const MeasurementRow& row);
MlaFamily row_mla_family(const MeasurementRow& row, const TimingGpu& gpu);

}  // namespace smtwin

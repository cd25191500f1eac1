// SPDX-License-Identifier: Apache-2.0
// Measured rows of collectives as questions to the model.
#pragma once

#include "model/families/collectives/collective_question.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

// DataError for an operation, dtype or kernel source that no rule covers.
CollectiveQuestion collective_question(const MeasurementRow& row);

}  // namespace smtwin

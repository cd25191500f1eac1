// SPDX-License-Identifier: Apache-2.0
// How a row of moe_perf is read: implementation, shape and routing. The problem itself is
// moe_row_problem (row_problems.hpp).
#pragma once

#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/routing.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

MoeImplementation moe_implementation(const MeasurementRow& row);
MoeShape moe_shape(const MeasurementRow& row);
RoutingRequest moe_routing_request(const MeasurementRow& row, const MoeImplementation& how);

}  // namespace smtwin

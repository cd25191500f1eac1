// SPDX-License-Identifier: Apache-2.0
// Interim: weak, so that the real one replaces it.
#include "arch/error.hpp"
#include "validate/measurements/row_problems.hpp"
namespace smtwin {
__attribute__((weak)) std::unique_ptr<TimeProblem> mla_module_row_problem(RowSpan, const TimingGpu&) {
  throw DataError("mla_module_row_problem not written yet");
}
}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "cli/occupancy_answer.hpp"

#include <array>

namespace smtwin {

OccupancyAnswer answer_occupancy(const GpuChoice& choice, const KernelResources& kernel,
                                 std::optional<KernelInstance> instance,
                                 std::vector<std::string> notes) {
  constexpr std::array kUsedFields{"sm.max_warps_per_sm",
                                   "sm.max_ctas_per_sm",
                                   "sm.registers_per_sm",
                                   "sm.register_allocation_unit",
                                   "sm.partitions_per_sm",
                                   "sm.shared_bytes_per_sm",
                                   "sm.shared_bytes_per_cta_optin",
                                   "sm.shared_bytes_reserved_per_cta",
                                   "sm.shared_allocation_unit_bytes"};
  OccupancyAnswer answer{.gpu = choice.gpu,
                         .overrides = choice.context.overrides,
                         .kernel = kernel,
                         .instance = std::move(instance),
                         .residency = residency(choice.gpu, kernel),
                         .steps = {},
                         .notes = std::move(notes)};
  answer.steps = next_steps(choice.gpu.sm, kernel, answer.residency);
  for (const char* field : kUsedFields) {
    answer.provenance = weaker(answer.provenance, provenance_of(choice.gpu, field));
  }
  return answer;
}

}  // namespace smtwin

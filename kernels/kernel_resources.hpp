// SPDX-License-Identifier: Apache-2.0
// What one CTA of a kernel takes from an SM: the input of the residency model.
#pragma once

#include <cstdint>

namespace smtwin {

inline constexpr std::int32_t kCarveoutDefault = -1;  // no preference: the driver gives the most

struct KernelResources {
  std::int32_t threads_per_cta = 0;
  std::int32_t registers_per_thread = 0;  // 0 = none used
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int32_t barriers_per_cta = 1;
  std::int32_t virtual_resources_per_cta = 0;
  std::int32_t cluster_ctas = 1;                     // product of the cluster's dimensions
  std::int32_t carveout_percent = kCarveoutDefault;  // preferred shared memory, 0..100
  std::int32_t function_max_threads_per_cta = 0;     // compiled launch bound; 0 = none
  bool shared_opt_in = true;  // the launch raises the 48 KiB default limit where it needs to
};

}  // namespace smtwin

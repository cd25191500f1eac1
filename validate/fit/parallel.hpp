// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on all cores. Each piece writes its own result, so the outcome does
// not depend on how many threads there are.
#pragma once

#include <cstddef>
#include <functional>

namespace smtwin {

// Calls work(0) .. work(count-1), each once. threads: 0 = as many as the machine runs at once. The
// first exception of any piece is thrown again when all have ended.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace smtwin {

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::size_t workers = threads > 0 ? static_cast<std::size_t>(threads)
                                    : std::max(1U, std::thread::hardware_concurrency());
  workers = std::min(workers, count);
  std::atomic<std::size_t> next{0};
  std::exception_ptr first;
  std::mutex guard;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!first) first = std::current_exception();
      }
    }
  };
  if (workers <= 1) {
    run();
  } else {
    std::vector<std::jthread> pool;
    for (std::size_t w = 0; w < workers; ++w) pool.emplace_back(run);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace smtwin

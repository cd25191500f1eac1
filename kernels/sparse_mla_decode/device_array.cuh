// SPDX-License-Identifier: Apache-2.0
// Device memory that a problem owns.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/device_check.hpp"

namespace smtwin {

template <typename T>
class SparseMlaArray {
 public:
  SparseMlaArray(std::size_t count, const std::string& what) : count_(count) {
    check_cuda(cudaMalloc(&data_, bytes()), std::to_string(bytes()) + " B for " + what);
  }
  SparseMlaArray(const std::vector<T>& values, const std::string& what)
      : SparseMlaArray(values.size(), what) {
    check_cuda(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice),
               "copy of " + what);
  }
  ~SparseMlaArray() { cudaFree(data_); }
  SparseMlaArray(const SparseMlaArray&) = delete;
  SparseMlaArray& operator=(const SparseMlaArray&) = delete;

  T* data() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

  // Waits for the device.
  std::vector<T> to_host() const {
    std::vector<T> values(count_);
    check_cuda(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost),
               "copy to the host");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace smtwin

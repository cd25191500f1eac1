// SPDX-License-Identifier: Apache-2.0
#include "validate/device/gpu_query.hpp"

#include <cuda_runtime_api.h>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "kernels/device_check.hpp"

namespace smtwin {
namespace {

int attribute(int index, cudaDeviceAttr which) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, index), "a property of the GPU");
  return value;
}

std::string version(int packed) {  // 13000 -> "13.0"
  return std::to_string(packed / 1000) + "." + std::to_string(packed % 1000 / 10);
}

// Empty when the catalog has no such GPU, or one with another number of SMs under that name.
std::string catalog_name(const RunGpu& gpu) {
  try {
    const GpuSpec known = find_gpu(gpu.reported);
    const std::string cc = std::to_string(known.compute_capability.major) + "." +
                           std::to_string(known.compute_capability.minor);
    return cc == gpu.compute_capability && known.sm_count == gpu.sm_count ? known.name : "";
  } catch (const UsageError&) {
    return "";
  }
}

}  // namespace

void select_gpu(int index) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    throw NoDeviceError("--device " + std::to_string(index) + ": no GPU that CUDA can use (" +
                        (status == cudaSuccess ? "none found" : cudaGetErrorString(status)) +
                        "); --run FILE needs none");
  }
  if (index < 0 || index >= count) {
    throw NoDeviceError("--device " + std::to_string(index) + ": this machine has " +
                        std::to_string(count) + (count == 1 ? " GPU" : " GPUs") +
                        ", numbered from 0");
  }
  check_cuda(cudaSetDevice(index), "taking GPU " + std::to_string(index));
  check_cuda(cudaFree(nullptr), "a context on GPU " + std::to_string(index));
}

std::unique_ptr<Nvml> open_nvml(int index) {
  char address[32] = {};
  check_cuda(cudaDeviceGetPCIBusId(address, sizeof address, index), "the GPU's PCI address");
  return std::make_unique<Nvml>(address);
}

RunGpu describe_gpu(int index, const Nvml& nvml) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "the GPU's properties");
  int driver = 0, runtime = 0;
  check_cuda(cudaDriverGetVersion(&driver), "the driver's version");
  check_cuda(cudaRuntimeGetVersion(&runtime), "the runtime's version");
  const NvmlReading now = nvml.read();
  RunGpu gpu;
  gpu.reported = properties.name;
  gpu.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  gpu.driver = nvml.driver_version().empty() ? "CUDA " + version(driver) : nvml.driver_version();
  gpu.cuda_runtime = version(runtime);
  gpu.sm_count = properties.multiProcessorCount;
  gpu.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  gpu.l2_bytes = properties.l2CacheSize;
  constexpr double kKilo = 1000;
  gpu.sm_clock_max_hz =
      nvml.max_sm_clock_hz().value_or(kKilo * attribute(index, cudaDevAttrClockRate));
  gpu.memory_clock_hz =
      nvml.max_memory_clock_hz().value_or(kKilo * attribute(index, cudaDevAttrMemoryClockRate));
  gpu.power_limit_w = now.power_limit_w.value_or(0);
  gpu.name = catalog_name(gpu);
  return gpu;
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_spec.hpp"

#include "arch/error.hpp"

namespace smtwin {
namespace {
[[noreturn]] void refuse(const GpuSpec& gpu, const char* path) {
  throw DataError(gpu.name + ": " + path + " is not known for this GPU; give it with --set " +
                  path + "=VALUE");
}
}  // namespace

double require(const GpuSpec& gpu, const std::optional<double>& value, const char* path) {
  if (!value) refuse(gpu, path);
  return *value;
}

int require(const GpuSpec& gpu, const std::optional<int>& value, const char* path) {
  if (!value) refuse(gpu, path);
  return *value;
}

Provenance provenance_of(const GpuSpec& gpu, const std::string& path) {
  const auto found = gpu.sources.find(path);
  return found == gpu.sources.end() ? Provenance::unknown : found->second.provenance;
}

std::string architecture_name(ComputeCapability cc) {
  return "sm_" + std::to_string(cc.major) + std::to_string(cc.minor);
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// The audit finds what is known to be broken in the measured rows and accuses little else.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "validate/measurements/audit.hpp"
#include "validate/measurements/measurement_reader.hpp"

namespace smtwin {
namespace {

TEST_CASE("known broken rows are found, few others") {
  const char* shared = std::getenv("SMTWIN_SHARED");
  const std::string path =
      (shared != nullptr ? std::string(shared) : std::string(SMTWIN_TEST_SOURCE_DIR "/../shared")) +
      "/measurements";
  if (!std::filesystem::is_directory(path)) {
    test::skip("no measured tables at " + path);
    return;
  }
  MeasurementSet set;
  read_measurement_path(path, set);
  std::map<std::string_view, TimingGpu> gpus;
  const auto findings = audit(set.rows, [&](std::string_view device) {
    return &gpus.try_emplace(device, timing_gpu(find_gpu(std::string(device)))).first->second;
  });
  std::map<std::string, int> flat;  // by device and kernel source
  std::map<AuditKind, int> kinds;
  for (const AuditFinding& f : findings) {
    ++kinds[f.kind];
    if (f.kind != AuditKind::flat) continue;
    ++flat[std::string(f.row->device.substr(0, 11)) + ' ' + std::string(f.row->kernel_source)];
  }
  CHECK(flat["NVIDIA RTX  CutlassFp8BlockScaledMMKernel"] == 28);
  CHECK(flat["NVIDIA H200 CutlassFp8BlockScaledMMKernel"] > 150);
  CHECK(flat["NVIDIA H200 DeepGemmFp8BlockScaledMMKernel"] > 450);
  CHECK(flat["NVIDIA H200 FlashInferFp8BlockScaledMMKernel"] > 150);
  CHECK(flat["NVIDIA H200 vLLM_custom_eager"] > 10);
  CHECK(flat["NVIDIA H200 SGLang_CustomAllReduce_eager"] > 10);
  CHECK(flat.size() <= 8);  // those six, eager all-reduces over PCIe, nothing else
  CHECK(kinds[AuditKind::faster_than_tensor] == 0);
  CHECK(kinds[AuditKind::faster_than_dram] < 60);
  CHECK(kinds[AuditKind::duplicates] < 100);
}

}  // namespace
}  // namespace smtwin

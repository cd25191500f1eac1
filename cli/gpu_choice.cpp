// SPDX-License-Identifier: Apache-2.0
// --gpu and the --set overrides of its fields, with what the report must say about both.
#include <filesystem>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/verb.hpp"

namespace smtwin {
namespace {

// Shipped files are named from the data folder on: a report does not depend on where it lies.
std::string file_for_report(const std::string& file) {
  namespace fs = std::filesystem;
  if (file.empty()) return "";
  const fs::path inside = fs::path(file).lexically_normal().lexically_relative(
      fs::path(data_directory()).lexically_normal());
  if (inside.empty() || *inside.begin() == "..") return file;
  return inside.generic_string();
}

}  // namespace

GpuChoice choose_gpu(const std::string& name, const std::vector<std::string>& gpu_settings) {
  if (name.empty()) {
    throw UsageError(
        "--gpu is missing; name one, for example --gpu rtx-pro-6000-server (smtwin "
        "gpus lists all)");
  }
  GpuChoice choice{.gpu = find_gpu(name), .context = {}};
  choice.context.overrides = apply_overrides(choice.gpu, gpu_settings);
  choice.context.gpu = choice.gpu.name;
  choice.context.gpu_file = file_for_report(choice.gpu.file);
  return choice;
}

}  // namespace smtwin

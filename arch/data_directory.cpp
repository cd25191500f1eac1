// SPDX-License-Identifier: Apache-2.0
// Where data/ is: what SMTWIN_DATA says, else beside the running program (installed or in a build
// folder), else the source tree. Only a folder that has gpus/ counts, because "../data" beside an
// unrelated program could be anybody's.
#include <cstdlib>
#include <filesystem>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"

#ifndef SMTWIN_SOURCE_DATA
#define SMTWIN_SOURCE_DATA ""
#endif

namespace smtwin {
namespace fs = std::filesystem;

std::string data_directory() {
  std::error_code ignored;
  const auto has_gpus = [&](const fs::path& folder) {
    return !folder.empty() && fs::is_directory(folder / "gpus", ignored);
  };
  if (const char* chosen = std::getenv("SMTWIN_DATA"); chosen != nullptr && *chosen != '\0') {
    if (has_gpus(chosen)) return chosen;
    throw DataError("SMTWIN_DATA=" + std::string(chosen) +
                    ": no folder with gpus/ in it; name smtwin's data folder or unset it");
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* beside : {"../share/smtwin", "../../data", "../data"}) {
    const fs::path folder = (program / beside).lexically_normal();
    if (!program.empty() && has_gpus(folder)) return folder.string();
  }
  if (has_gpus(SMTWIN_SOURCE_DATA)) return SMTWIN_SOURCE_DATA;
  throw DataError("smtwin's data folder was not found beside " +
                  (program.empty() ? std::string("the program") : program.string()) +
                  "; set SMTWIN_DATA to the folder that has gpus/");
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Every published config.json of the shared folder gets an answer: a table, or one line that names
// what engines refuse. Skipped where the folder is not there.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/report.hpp"
#include "cli/verb.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

namespace fs = std::filesystem;

fs::path shared_models() {
  const char* given = std::getenv("SMTWIN_SHARED");
  const fs::path root =
      given != nullptr ? fs::path(given) : fs::path(SMTWIN_TEST_SOURCE_DIR) / ".." / "shared";
  return root / "models";
}

TEST_CASE("every published config decodes") {
  if (!fs::is_directory(shared_models())) {
    test::skip("no folder of published configs");
    return;
  }
  int answered = 0;
  for (const auto& entry : fs::directory_iterator(shared_models())) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_config.json") || name.ends_with("_hf_quant_config.json")) continue;
    for (const char* tp : {"1", "1,8"}) {
      std::istringstream in;
      std::ostringstream out;
      std::ostringstream err;
      const int code = run({"decode", "--model", entry.path().string(), "--gpu", "h200-sxm", "--tp",
                            tp, "--batch", "1,64", "--context", "4096", "--breakdown", "--explain"},
                           in, out, err);
      INFO(name << " --tp " << tp << ": " << err.str());
      CHECK(code == 0);
      std::istringstream lines(out.str());
      for (std::string line; std::getline(lines, line);) {
        CHECK(display_width(line) <= kReportColumns);
      }
      ++answered;
    }
  }
  CHECK(answered > 0);
}

}  // namespace
}  // namespace smtwin

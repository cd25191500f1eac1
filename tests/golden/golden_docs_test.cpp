// SPDX-License-Identifier: Apache-2.0
// Reports in docs/ are those of the goldens and cannot drift: after a line
// `<!-- golden: CASE -->` a ```text block holds "$ smtwin " + args and then expected.txt.
// SMTWIN_UPDATE_GOLDEN=1 rewrites the blocks.
#include <sstream>

#include "tests/catch.hpp"
#include "tests/golden/golden_case.hpp"

namespace {

namespace fs = std::filesystem;

std::string report_of(const std::string& name) {
  const auto c = smtwin::test::load_case(smtwin::test::golden_folder() / name);
  return "$ smtwin " + c.command + "\n" + smtwin::test::read_text(c.folder / "expected.txt");
}

struct Rendered {
  std::string text;
  int blocks = 0;
};

// The document with every marked block replaced by its golden report.
Rendered with_golden_reports(const std::string& document) {
  const std::string marker = "<!-- golden: ";
  Rendered rendered;
  std::istringstream lines(document);
  std::string name;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (inside && line != "```") continue;
    if (line.rfind(marker, 0) == 0) {
      name = line.substr(marker.size(), line.find(" -->") - marker.size());
    }
    rendered.text += line + '\n';
    if (inside) {
      inside = false;
    } else if (!name.empty() && line == "```text") {
      rendered.text += report_of(name);
      name.clear();
      inside = true;
      ++rendered.blocks;
    }
  }
  return rendered;
}

}  // namespace

TEST_CASE("reports in the documents are the golden ones", "[docs]") {
  const fs::path root = SMTWIN_TEST_SOURCE_DIR;
  int blocks = 0;
  for (const fs::path& file : {root / "docs" / "cli.md", root / "docs" / "calibration.md",
                               root / "docs" / "field-notes-on-h200.md", root / "README.md"}) {
    if (!fs::exists(file)) continue;
    INFO(file.string());
    const std::string document = smtwin::test::read_text(file);
    const Rendered rendered = with_golden_reports(document);
    blocks += rendered.blocks;
    if (smtwin::test::updating_goldens() && rendered.text != document) {
      smtwin::test::write_text(file, rendered.text);
      continue;
    }
    CHECK(document == rendered.text);
  }
  CHECK(blocks > 0);
}

// SPDX-License-Identifier: Apache-2.0
// A golden case: a folder with `args` (one command line of smtwin, lines with # say why the case
// matters), `expected.txt` and `expected.json`. SMTWIN_UPDATE_GOLDEN=1 rewrites the expected files
// from what the program says now; whoever does that reads the difference.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace smtwin::test {

struct GoldenCase {
  std::filesystem::path folder;
  std::string command;                 // the args line as written
  std::vector<std::string> arguments;  // split as a shell would
  int exit_code = 0;                   // what a line "# exit 1" of args says
};

std::filesystem::path golden_folder();
bool updating_goldens();
std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

// All cases, or the one that SMTWIN_GOLDEN_CASE names.
std::vector<GoldenCase> golden_cases();
GoldenCase load_case(const std::filesystem::path& folder);

struct Output {
  int exit_code = 0;
  std::string out;
  std::string err;
};
Output run_smtwin(const std::vector<std::string>& arguments);

// Words split at blanks; "..." keeps blanks together.
std::vector<std::string> split_command(const std::string& line);

}  // namespace smtwin::test

// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_case.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "cli/verb.hpp"

namespace smtwin::test {

namespace fs = std::filesystem;

fs::path golden_folder() { return fs::path(SMTWIN_TEST_SOURCE_DIR) / "tests" / "golden"; }

bool updating_goldens() {
  const char* value = std::getenv("SMTWIN_UPDATE_GOLDEN");
  return value != nullptr && std::string(value) == "1";
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw std::runtime_error(file.string() +
                             " is missing; SMTWIN_UPDATE_GOLDEN=1 writes expected files");
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out) throw std::runtime_error(file.string() + " cannot be written");
}

std::vector<std::string> split_command(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  bool pending = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      pending = true;
    } else if (c == ' ' && !quoted) {
      if (pending) words.push_back(word);
      word.clear();
      pending = false;
    } else {
      word += c;
      pending = true;
    }
  }
  if (pending) words.push_back(word);
  return words;
}

GoldenCase load_case(const fs::path& folder) {
  GoldenCase c{.folder = folder, .command = {}, .arguments = {}, .exit_code = 0};
  std::istringstream lines(read_text(folder / "args"));
  for (std::string line; std::getline(lines, line);) {
    if (line == "# exit 1") c.exit_code = 1;
    if (!line.empty() && line.front() != '#') c.command += (c.command.empty() ? "" : " ") + line;
  }
  c.arguments = split_command(c.command);
  return c;
}

std::vector<GoldenCase> golden_cases() {
  const char* only = std::getenv("SMTWIN_GOLDEN_CASE");
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(golden_folder())) {
    if (!fs::exists(entry.path() / "args")) continue;
    if (only != nullptr && entry.path().filename() != only) continue;
    folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<GoldenCase> cases;
  for (const fs::path& folder : folders) cases.push_back(load_case(folder));
  return cases;
}

Output run_smtwin(const std::vector<std::string>& arguments) {
  std::istringstream in;
  std::ostringstream out, err;
  Output output;
  output.exit_code = run(arguments, in, out, err);
  output.out = out.str();
  output.err = err.str();
  return output;
}

}  // namespace smtwin::test

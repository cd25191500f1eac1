// SPDX-License-Identifier: Apache-2.0
// `--help` of every verb shows an example, and every example works.
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using smtwin::test::smtwin_run;

namespace {

// Words split at blanks; "..." keeps them together, as in a shell.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

TEST_CASE("the example of every verb is in its help and works from the project's folder",
          "[unit]") {
  std::filesystem::current_path(SMTWIN_TEST_SOURCE_DIR);
  for (const smtwin::Verb& verb : smtwin::all_verbs()) {
    INFO(verb.name << ": smtwin " << verb.example);
    const auto help = smtwin_run(std::vector<std::string>{verb.name, "--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.out.find("smtwin " + verb.example) != std::string::npos);
    CHECK(smtwin_run(std::vector<std::string>{"help", verb.name}).out == help.out);
    const auto words = shell_words(verb.example);
    CHECK(words.front() == verb.name);
    const auto ran = smtwin_run(words);
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
    CHECK_FALSE(ran.out.empty());
    for (const char* format : {"json", "csv"}) {
      auto formatted = words;
      formatted.insert(formatted.end(), {"--format", format});
      CHECK(smtwin_run(formatted).exit_code == 0);
    }
  }
}

TEST_CASE("the overview lists every verb", "[unit]") {
  const auto overview = smtwin_run("--help");
  CHECK(overview.exit_code == 0);
  for (const smtwin::Verb& verb : smtwin::all_verbs()) {
    CHECK(overview.out.find("\n" + verb.name + " ") != std::string::npos);
    CHECK(overview.out.find(verb.summary) != std::string::npos);
  }
  CHECK(smtwin_run("--version").out == "smtwin " + smtwin::tool_version() + "\n");
}

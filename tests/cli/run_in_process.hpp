// SPDX-License-Identifier: Apache-2.0
// Runs a command line in this process and keeps what it printed.
#pragma once

#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "cli/verb.hpp"

namespace smtwin::test {

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

inline Ran smtwin_run(const std::vector<std::string>& arguments, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out, err;
  Ran ran;
  ran.exit_code = run(arguments, in, out, err);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

// "occupancy --gpu h200 --threads 32": split at blanks.
inline Ran smtwin_run(const std::string& line, const std::string& input = "") {
  std::istringstream words(line);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return smtwin_run(arguments, input);
}

}  // namespace smtwin::test

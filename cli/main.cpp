// SPDX-License-Identifier: Apache-2.0
// The process around cli/run.cpp: arguments, standard streams, exit code.
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "cli/verb.hpp"

int main(int argc, char** argv) {
  // A reader that goes away is a failed write, reported as one, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  return smtwin::run(std::vector<std::string>(argv + 1, argv + argc), std::cin, std::cout,
                     std::cerr);
}

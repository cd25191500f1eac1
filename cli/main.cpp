// SPDX-License-Identifier: Apache-2.0
// The process around cli/run.cpp: arguments, standard streams, exit code. SIGPIPE keeps its default
// action, so that `smtwin gpus | head` ends as quietly as any other program.
#include <iostream>
#include <string>
#include <vector>

#include "cli/verb.hpp"

int main(int argc, char** argv) {
  return smtwin::run(std::vector<std::string>(argv + 1, argv + argc), std::cin, std::cout,
                     std::cerr);
}

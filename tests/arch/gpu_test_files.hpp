// SPDX-License-Identifier: Apache-2.0
// What the tests of GPU files share: the shipped files, and the message of an error.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "arch/gpu_catalog.hpp"

namespace smtwin::test {

inline std::string shipped_file(const std::string& name) {
  return std::string(SMTWIN_TEST_SOURCE_DIR) + "/data/gpus/" + name + ".json";
}

inline std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The message of the Expected error that the call throws; a note in brackets when it does not.
template <typename Expected, typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& other) {
    return std::string("[another error] ") + other.what();
  }
  return "[no error]";
}

}  // namespace smtwin::test

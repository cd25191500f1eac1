// SPDX-License-Identifier: Apache-2.0
// Asking smtwin as a user does, in-process: flags in, the JSON result out; and reading the loosely
// written inputs of public reports ("8.9 or 12.0", "128 (inferred)", ">=1").
#pragma once

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "tests/catch.hpp"

namespace smtwin::cases {

using Json = nlohmann::json;

inline std::string joined(const std::vector<std::string>& arguments) {
  std::string text = "smtwin";
  for (const std::string& argument : arguments) text += " " + argument;
  return text;
}

// `result` of the JSON answer; a refusal of the command fails the test.
inline Json ask(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int exit_code = run(arguments, in, out, err);
  INFO(joined(arguments) << "\n" << err.str());
  REQUIRE(exit_code == 0);
  return Json::parse(out.str()).at("result");
}

// `smtwin occupancy --gpu ... FLAG VALUE ...`
inline Json occupancy(const std::string& gpu, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments{"occupancy", "--gpu", gpu};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return ask(arguments);
}

// The first integer in a number or a text: 128, "128 (inferred)", ">=1".
inline std::int64_t integer(const Json& value) {
  if (value.is_number()) return value.get<std::int64_t>();
  std::smatch found;
  const std::string text = value.get<std::string>();
  REQUIRE(std::regex_search(text, found, std::regex("[0-9]+")));
  return std::stoll(found.str());
}

inline std::string text_of(const Json& value) { return std::to_string(integer(value)); }

// "9.0" -> "sm-90".
inline std::string generic_gpu(const std::string& compute_capability) {
  std::string name = "sm-";
  for (const char c : compute_capability) {
    if (c != '.') name += c == 'x' ? '0' : c;  // "12.x": the family's first member
  }
  return name;
}

// Every compute capability that a report names, as generic GPUs.
inline std::vector<std::string> gpus_of(const Json& report) {
  std::vector<std::string> gpus;
  const std::string text = report.at("compute_capability").get<std::string>();
  const std::regex version("[0-9]+\\.[0-9x]");
  for (std::sregex_iterator at(text.begin(), text.end(), version), end; at != end; ++at) {
    gpus.push_back(generic_gpu(at->str()));
  }
  REQUIRE_FALSE(gpus.empty());
  return gpus;
}

}  // namespace smtwin::cases

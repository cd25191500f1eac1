// SPDX-License-Identifier: Apache-2.0
// Goldens say that a report or a prediction changed, not that it is right. Text is compared
// exactly; JSON field by field, numbers within a relative 1e-9 (another libm may differ in the
// last digit), the tool's version left out.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/golden/golden_case.hpp"

namespace {

using Json = nlohmann::ordered_json;
using smtwin::test::GoldenCase;

constexpr double kSameWithin = 1e-9;

Json without_version(const std::string& text) {
  Json report = Json::parse(text);
  report["context"]["version"] = "masked";
  return report;
}

// Path of the first difference, or "".
std::string first_difference(const Json& a, const Json& b, const std::string& path) {
  if (a.is_number() && b.is_number()) {
    const double x = a.get<double>();
    const double y = b.get<double>();
    const double scale = std::max(std::abs(x), std::abs(y));
    if (std::abs(x - y) <= kSameWithin * scale) return "";
    return path + ": expected " + a.dump() + ", found " + b.dump();
  }
  if (a.type() != b.type() || a.size() != b.size()) {
    return path + ": expected " + a.dump().substr(0, 200) + ", found " + b.dump().substr(0, 200);
  }
  if (a.is_object()) {
    for (const auto& [key, value] : a.items()) {
      if (!b.contains(key)) return path + "/" + key + ": missing";
      const std::string inner = first_difference(value, b.at(key), path + "/" + key);
      if (!inner.empty()) return inner;
    }
    return "";
  }
  if (a.is_array()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::string inner = first_difference(a[i], b[i], path + "/" + std::to_string(i));
      if (!inner.empty()) return inner;
    }
    return "";
  }
  return a == b ? "" : path + ": expected " + a.dump() + ", found " + b.dump();
}

// Terminal columns: bytes that do not continue a UTF-8 character.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void check_text(const GoldenCase& c) {
  const auto got = smtwin::test::run_smtwin(c.arguments);
  INFO(got.err);
  REQUIRE(got.exit_code == c.exit_code);
  const auto file = c.folder / "expected.txt";
  if (smtwin::test::updating_goldens()) smtwin::test::write_text(file, got.out);
  CHECK(got.out == smtwin::test::read_text(file));
  std::istringstream lines(got.out);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(columns(line) <= 100);
  }
}

void check_json(const GoldenCase& c) {
  std::vector<std::string> arguments = c.arguments;
  arguments.insert(arguments.end(), {"--format", "json"});
  const auto got = smtwin::test::run_smtwin(arguments);
  INFO(got.err);
  REQUIRE(got.exit_code == c.exit_code);
  const Json report = without_version(got.out);
  const auto file = c.folder / "expected.json";
  if (smtwin::test::updating_goldens()) smtwin::test::write_text(file, report.dump(1) + '\n');
  CHECK(first_difference(Json::parse(smtwin::test::read_text(file)), report, "") == "");
}

}  // namespace

TEST_CASE("reports are what their golden files say", "[golden]") {
  const auto cases = smtwin::test::golden_cases();
  REQUIRE_FALSE(cases.empty());
  for (const GoldenCase& c : cases) {
    INFO(c.folder.filename().string() << ": smtwin " << c.command);
    check_text(c);
    check_json(c);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Profiles that nobody can predict with are refused by name, never used half.
#include <fstream>
#include <sstream>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "validate/fit/profile_io.hpp"

using namespace smtwin;

namespace {

std::string shipped_text() {
  std::ifstream file(data_directory() + "/calibrations/h200-sxm.json");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string complaint(const std::string& text) {
  try {
    read_profile(text, "p.json");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

// The first `from` of the shipped profile replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = shipped_text();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return complaint(text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("the shipped profiles read, hold no constant at a bound and few constants",
          "[property]") {
  for (const std::string& gpu : shipped_profiles()) {
    const CalibrationProfile p = load_profile(data_directory() + "/calibrations/" + gpu + ".json");
    CHECK(p.gpu == gpu);
    CHECK(p.rows > 60000);
    CHECK(p.source.find("AIConfigurator") != std::string::npos);
    for (const FamilyCalibration& f : p.families) {
      INFO(gpu << " " << f.identity.key());
      CHECK(f.converged);
      for (const FittedConstant& c : f.constants) {
        INFO(c.name);
        CHECK((f.unseen.rows < 300 || !c.at_bound));
        CHECK_FALSE(c.unit.empty());
        CHECK(c.meaning.size() > 5);
      }
      // The collectives of all libraries and operations are one fit; each uses at most 15.
      CHECK((f.constants.size() <= 16 || f.identity.table == "collectives"));
    }
  }
  CHECK(shipped_profiles() == std::vector<std::string>{"h200-sxm", "rtx-pro-6000-server"});
}

TEST_CASE("values that no kernel has are refused", "[errors]") {
  CHECK(complaint(shipped_text()).empty());
  CHECK(with("\"value\":", "\"value\":0,\"was\":").find("p.json: /gpu_constants/0/") == 0);
  CHECK_FALSE(with("\"schema_version\"", "\"colour\": \"red\", \"schema_version\"").empty());
  CHECK_FALSE(with("\"of_gpu\":true", "\"of_gpu\":1").empty());
  CHECK_FALSE(with("\"interval_scores\": [", "\"interval_scores\": [0.5,").empty());
  CHECK_FALSE(with("\"unmeasured_interval\": [", "\"unmeasured_interval\": [0.1,").empty());
  CHECK_FALSE(with("\"converged\": ", "\"converged\": 7, \"was\": ").empty());
  CHECK_FALSE(with("\"covariance\": [", "\"covariance\": [-1,").empty());
  CHECK_FALSE(with("\"spread\": {\"launch\":", "\"spread\": {\"launch\":1e300,\"lunch\":").empty());
  CHECK_FALSE(with("\"seed\": 1", "\"seed\": -1").empty());
}

TEST_CASE("a family that is there twice is refused", "[errors]") {
  std::string text = shipped_text();
  const std::size_t families = text.find("\"families\": [");
  const std::size_t first = text.find("{", families);
  const std::size_t second = text.find("\n    {", first);
  REQUIRE(second != std::string::npos);
  const std::string entry = text.substr(first, second - first);
  text.insert(first, entry);
  CHECK(complaint(text).find("is there twice") != std::string::npos);
}

TEST_CASE("a folder is no profile", "[errors]") {
  CHECK_THROWS_WITH(load_profile(data_directory()), Catch::Contains("a folder"));
  CHECK_THROWS_AS(load_profile("/nowhere/p.json"), DataError);
}

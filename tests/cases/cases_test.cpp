// SPDX-License-Identifier: Apache-2.0
// Public reports (issues, pull requests, forums) put to smtwin: the `numbers` of each become flags,
// and the answer is held against its `expect`. The reports lie beside the checkout or in
// $SMTWIN_SHARED. Of the five kinds about residency every report is either asked or listed below
// with the reason why not; the last test prints how many.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

#include "tests/cases/residency_recipes.hpp"
#include "tests/cases/shared_memory_recipes.hpp"

namespace smtwin::cases {
namespace {

using Recipe = std::function<void(const Json& report)>;

const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> all{
      {"clu-02", clusters},
      {"clu-03", clusters},
      {"clu-04", clusters},
      {"cutlass-02", cutlass_tiles},
      {"occ-02", resident_ctas_of_report},
      {"occ-03", resident_ctas_of_report},
      {"occ-04", occupancy_by_registers},
      {"occ-05", resident_ctas_of_report},
      {"occ-11", grid_on_the_gpu},
      {"occ-12", wave_boundary},
      {"occ-13", one_cta_threshold},
      {"occ-16", opt_in_of_the_sum},
      {"occ-18", threads_by_bytes},
      {"reg-01", resident_ctas_of_report},
      {"reg-02", launches_by_threads},
      {"reg-05", variants},
      {"reg-09", too_many_warps},
      {"reg-10", function_limit},
      {"smem-02", triton_gemm_stages},
      {"smem-07", attention_buffers},
      {"smem-08", triton_generations},
      {"smem-10", reported_bytes},
      {"smem-12", flash_attention_buffers},
      {"smem-13", cutlass_2_stages},
      {"smem-14", reported_bytes},
      {"smem-18", reported_bytes},
      {"smem-20", reported_bytes},
      {"smem-21", reported_bytes},
      {"smem-22", reported_bytes},
      {"smem-24", reported_bytes},
      {"smem-27", reported_bytes},
      {"smem-28", reported_bytes},
      {"smem-31", reported_bytes},
      {"smem-32", reported_bytes},
      {"smem-36", reported_bytes},
      {"smem-37", reported_bytes},
      {"smem-38", reported_bytes},
      {"smem-40", reported_bytes},
      {"smem-42", budget_in_kib},
  };
  return all;
}

const std::map<std::string, std::string>& not_asked() {
  static const std::map<std::string, std::string> all{
      {"clu-05", "expects a word about another library's check, not a number of a kernel"},
      {"occ-06", "what limits it to 2 CTAs is not reported: by threads alone 3 fit"},
      {"occ-07",
       "the 4 CTAs of CC 5.2 hold with global loads cached in L1 only, which is off by "
       "default and not modelled; the driver's default answer is 5"},
      {"occ-20", "a measured time; residency alone says nothing about it"},
      {"reg-07", "expects a warning about spills, which only the compiler's output can give"},
      {"reg-08", "spills of a kernel without a descriptor"},
      {"smem-23", "the suggested tile's bytes follow from stages that are not reported"},
  };
  return all;
}

bool about_residency(const Json& report) {
  const auto kind = report.at("kind").get<std::string>();
  return kind == "smem_oor" || kind == "regs" || kind == "occupancy_question" ||
         kind == "carveout" || kind == "cutlass_tile";
}

// Empty when the reports are not there; the test then says so and passes as skipped.
std::vector<Json> reports() {
  const char* shared = std::getenv("SMTWIN_SHARED");
  const std::string path =
      (shared != nullptr ? std::string(shared) : SMTWIN_TEST_SOURCE_DIR "/../shared") +
      "/cases.json";
  std::ifstream file(path);
  std::vector<Json> found;
  if (!file) {
    test::skip("no public reports at " + path);
    return found;
  }
  for (const Json& report : Json::parse(file)) {
    if (about_residency(report)) found.push_back(report);
  }
  return found;
}

}  // namespace

TEST_CASE("public reports get the right answer") {
  const std::vector<Json> all = reports();
  if (all.empty()) return;
  int asked = 0;
  for (const Json& report : all) {
    const auto id = report.at("id").get<std::string>();
    const auto recipe = recipes().find(id);
    if (recipe == recipes().end()) {
      INFO("report " << id << " is neither asked nor listed with a reason");
      REQUIRE(not_asked().count(id) == 1);
      continue;
    }
    INFO("report " << id << ": " << report.at("numbers").dump() << " expects "
                   << report.at("expect").dump());
    recipe->second(report);
    ++asked;
  }
  std::cout << asked << " of " << all.size() << " public reports asserted; not asked:\n";
  for (const auto& [id, reason] : not_asked()) std::cout << "  " << id << ": " << reason << '\n';
  CHECK(asked >= 32);
}

}  // namespace smtwin::cases

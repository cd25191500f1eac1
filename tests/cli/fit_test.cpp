// SPDX-License-Identifier: Apache-2.0
// `smtwin fit`: the field notes' list, and what the autotuner did not say.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using smtwin::test::smtwin_run;

namespace {

nlohmann::json fit(const std::string& flags) {
  const auto ran = smtwin_run("fit --kernel sparse_decode_fieldnotes --gpu rtx-pro-6000-server " +
                              flags + " --format json");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return nlohmann::json::parse(ran.out)["result"];
}

const std::string kList = "--topk 512 --list BT16/w4/s2,BT32/w4/s2,BT32/w8/s2 ";

}  // namespace

TEST_CASE("with 16 heads one entry of the list survives and nothing was compared", "[unit]") {
  // 1,152 x 16 + 1,348 x 2 x 16 = 61,568; with BT32 104,704 = 101,376 + 3,328.
  const auto r = fit(kList + "--heads 16");
  CHECK(r["entries"][0]["fits"] == true);
  CHECK(r["entries"][0]["ctas_per_sm"] == 1);
  CHECK(r["entries"][0]["limiters"] == nlohmann::json({"shared_memory"}));
  CHECK(r["entries"][0]["theoretical_occupancy"].get<double>() == Approx(4.0 / 48));
  CHECK(r["entries"][0]["picked_because"] == "by the autotuner: the only entry that fits");
  CHECK(r["entries"][1]["shared_bytes_over_limit"] == 3328);
  CHECK(r["entries"][2]["shared_bytes_over_limit"] == 3328);
  CHECK(r["entries"][1]["predicted"].is_null());
  CHECK(r["autotuner"]["picked"] == "BT16/w4/s2");
  CHECK(r["autotuner"]["sentences"] ==
        nlohmann::json({"the autotuner never compared anything: 2 of 3 entries do not fit and are "
                        "silently given infinite time"}));
}

TEST_CASE("with 64 heads the same entries miss by 21,760 B", "[unit]") {
  // block_h = min(32, 64): 1,152 x 32 + 1,348 x 2 x 32 = 123,136 = 101,376 + 21,760.
  const auto r = fit(kList + "--heads 64");
  CHECK(r["entries"][0]["shared_bytes"] == 80000);
  CHECK(r["entries"][1]["shared_bytes_over_limit"] == 21760);
}

TEST_CASE("with Hopper's shared memory all three fit and are compared", "[unit]") {
  const auto r = fit(kList + "--heads 16 --set sm.shared_bytes_per_sm=228KiB");
  CHECK(r["autotuner"]["fit"] == 3);
  CHECK(r["autotuner"]["sentences"].empty());
  CHECK(r["entries"][0]["ctas_per_sm"] == 2);  // registers: 8 warps of 8,192
}

TEST_CASE("what the autotuner compares is said for every kind of list", "[unit]") {
  const auto sentence = [](const std::string& list) {
    const auto r = fit("--heads 16 --list " + list);
    return r["autotuner"]["sentences"].empty() ? std::string()
                                               : r["autotuner"]["sentences"][0].get<std::string>();
  };
  CHECK(sentence("BT16/w8/s2") ==
        "one entry: an autotuner with a single configuration does not benchmark at all");
  CHECK(sentence("BT32/w4/s2") == "the only entry does not fit: the launch fails");
  CHECK(sentence("BT32/w4/s2,BT32/w8/s2") ==
        "no entry fits: whatever the autotuner picks, the launch fails");
  CHECK(sentence("BT16/w4/s2,BT16/w8/s2,BT32/w4/s2") ==
        "1 of 3 entries does not fit and is silently given infinite time; the autotuner compares "
        "the other 2");
  CHECK(sentence("BT16/w4/s2,BT16/w8/s2").empty());
}

TEST_CASE("alternatives are near, fit, are not in the list, and say how their bytes are known",
          "[unit]") {
  const auto r = fit(kList + "--heads 16");
  REQUIRE_FALSE(r["also_fit"].empty());
  for (const auto& other : r["also_fit"]) {
    CHECK(other["fits"] == true);
    for (const auto& entry : r["entries"]) CHECK(entry["config"] != other["config"]);
  }
  // One step from the list (three stages), never compiled.
  CHECK(r["also_fit"][0]["config"] == "BT16/w4/s3");
  CHECK(r["also_fit"][0]["shared_bytes"] == 83136);
  CHECK(r["also_fit"][0]["shared_provenance"] == "extrapolated");
}

TEST_CASE("without a list the space is ranked, fastest first, misses last", "[unit]") {
  const auto r = fit("--heads 64 --topk 512");
  CHECK(r["autotuner"]["from_list"] == false);
  double before = 0;
  bool missed = false;
  for (const auto& entry : r["entries"]) {
    if (entry["fits"] == false) {
      missed = true;
      continue;
    }
    CHECK_FALSE(missed);
    CHECK(entry["predicted"]["seconds"].get<double>() >= before * (1 - 0.01));
    before = entry["predicted"]["seconds"].get<double>();
  }
  CHECK(missed);
  CHECK(r["entries"][0]["picked"] == true);
}

TEST_CASE("a chip without rates still answers with bytes and says what is missing", "[unit]") {
  const auto ran = smtwin_run("fit --kernel triton_gemm --gpu sm-86 --format json");
  const auto r = nlohmann::json::parse(ran.out)["result"];
  CHECK(r["no_time_because"] ==
        "sm-86: sm_clock_hz is not known for this GPU; give it with --set sm_clock_hz=VALUE");
  CHECK(r["autotuner"]["fit"].get<int>() > 0);
  CHECK(r["autotuner"]["picked"].is_null());
}

TEST_CASE("entries in the long form are separated by semicolons", "[unit]") {
  const auto ran = smtwin_run(std::vector<std::string>{
      "fit", "--kernel", "sparse_decode_fieldnotes", "--gpu", "rtx-5090", "--list",
      "block_t=16,num_warps=4; block_t=32,num_warps=8", "--format", "csv"});
  CHECK(ran.exit_code == 0);
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 3);
  CHECK(ran.out.find(",BT32/w8/s2,0,shared_exceeds_cta_limit,104704,3328,") != std::string::npos);
}

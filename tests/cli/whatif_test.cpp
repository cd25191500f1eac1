// SPDX-License-Identifier: Apache-2.0
// `smtwin whatif` and `predict`: which points a command line spans, and what is shown of each.
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using smtwin::test::smtwin_run;

namespace {

nlohmann::json whatif(const std::string& flags) {
  const auto ran =
      smtwin_run("whatif --kernel sparse_decode_fieldnotes --topk 512 " + flags + " --format json");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return nlohmann::json::parse(ran.out)["result"];
}

double fact(const nlohmann::json& point, const std::string& name) {
  for (const auto& f : point["facts"]) {
    if (f["name"] == name) return f["value"].get<double>();
  }
  return -1;
}

}  // namespace

TEST_CASE("eight warps double the resident warps, not the CTAs", "[unit]") {
  const auto r = whatif("--gpu rtx-pro-6000-server --heads 16 --set num_warps=8");
  REQUIRE(r["points"].size() == 2);
  CHECK(r["points"][0]["label"] == "base");
  CHECK(r["points"][1]["label"] == "num_warps=8");
  CHECK(r["points"][0]["theoretical_occupancy"].get<double>() == Approx(4.0 / 48));
  CHECK(r["points"][1]["theoretical_occupancy"].get<double>() == Approx(8.0 / 48));
  CHECK(r["points"][1]["ctas_per_sm"] == 1);
  CHECK_FALSE(r["comparisons"][0]["why"].get<std::string>().empty());
}

TEST_CASE("a smaller BLOCK_H gathers the tokens again", "[unit]") {
  // 64 heads: ceil(64 / 32) = 2 and ceil(64 / 16) = 4 groups. 188 SMs: 64 x 2 may double its splits
  // once within 376 CTAs, 64 x 4 not; both are 256 CTAs on 188 slots: 1.36 waves, 68 in the tail.
  const auto r = whatif("--gpu rtx-pro-6000-server --heads 64 --batch 64 --set block_h=32,16");
  const auto& wide = r["points"][0];
  const auto& narrow = r["points"][1];
  CHECK(wide["label"] == "block_h=32");
  CHECK(fact(wide, "n_hg") == 2);
  CHECK(fact(narrow, "n_hg") == 4);
  CHECK(wide["shared_bytes"] == 80000);
  CHECK(narrow["shared_bytes"] == 61568);
  CHECK(wide["grid"]["formula"] == "64 x 2 x 2");
  CHECK(narrow["grid"]["formula"] == "64 x 4 x 1");
  CHECK(wide["waves"]["tail_ctas"] == 68);
  CHECK(narrow["waves"]["tail_fill"].get<double>() == Approx(68.0 / 188));
}

TEST_CASE("several values and GPUs span their product, single values hold for all", "[unit]") {
  const auto r = whatif(
      "--gpu rtx-pro-6000-server,h200 --set batch=1,16,64 --set sm.shared_bytes_per_sm=228KiB");
  REQUIRE(r["points"].size() == 6);
  CHECK(r["points"][0]["label"] == "rtx-pro-6000-server, batch=1");
  CHECK(r["points"][5]["label"] == "h200, batch=64");
  CHECK(r["points"][5]["gpu"] == "h200-sxm");
  for (const auto& point : r["points"]) CHECK(point["ctas_per_sm"] == 2);
  CHECK(r["comparisons"].size() == 5);
}

TEST_CASE("a field of the GPU is a change like any other", "[unit]") {
  const auto r = whatif("--gpu rtx-pro-6000-server --heads 16 --set sm.shared_bytes_per_sm=228KiB");
  CHECK(r["points"][0]["overrides"].empty());
  CHECK(r["points"][0]["ctas_per_sm"] == 1);
  CHECK(r["points"][1]["overrides"][0]["after"] == "233472");
  CHECK(r["points"][1]["ctas_per_sm"] == 2);
}

TEST_CASE("a point that does not fit says so and is not compared", "[unit]") {
  const auto ran = smtwin_run(
      "whatif --kernel sparse_decode_fieldnotes --gpu rtx-pro-6000-server --heads 16 --set "
      "block_t=32");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.find("no, 3,328 B over") != std::string::npos);
  CHECK(ran.out.find("block_t=32      does not fit: 104,704 B") != std::string::npos);
}

TEST_CASE("every shape parameter is a flag, with either dash", "[unit]") {
  const auto parameters = [](const std::string& flags) {
    const auto ran =
        smtwin_run("predict --kernel triton_gemm --gpu h200 " + flags + " --format json");
    INFO(ran.err);
    return nlohmann::json::parse(ran.out)["result"];
  };
  const auto r = parameters("--m 16 --block-m=16 --block_n 64 --dtype fp8 --set num_stages=2");
  CHECK(r["shape"]["m"] == 16);
  CHECK(r["shape"]["dtype"] == "fp8");
  CHECK(r["parameters"]["block_m"] == 16);
  CHECK(r["parameters"]["block_n"] == 64);
  CHECK(r["parameters"]["num_stages"] == 2);
}

TEST_CASE("a prediction names its binding bound and is the slowest of none faster", "[unit]") {
  const auto ran = smtwin_run(
      "predict --kernel triton_gemm --gpu rtx-pro-6000-server --m 16 --config "
      "BM16/BN64/BK128/w4/s3 --format json");
  const auto p = nlohmann::json::parse(ran.out)["result"]["predicted"];
  CHECK(p["bounds"][0]["bound"] == p["binding"]);
  for (const auto& b : p["bounds"]) {
    CHECK(b["seconds"].get<double>() <= p["seconds"].get<double>());
    CHECK_FALSE(b["equation"].get<std::string>().empty());
  }
}

TEST_CASE("a warm L2 is never slower than a cold one", "[property]") {
  const int m = GENERATE(1, 16, 256);
  const auto seconds = [&](const std::string& l2) {
    const auto ran = smtwin_run("predict --kernel triton_gemm --gpu h200 --m " + std::to_string(m) +
                                " --l2 " + l2 + " --format json");
    return nlohmann::json::parse(ran.out)["result"]["predicted"]["seconds"].get<double>();
  };
  CHECK(seconds("warm") <= seconds("cold"));
}

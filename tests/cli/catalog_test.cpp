// SPDX-License-Identifier: Apache-2.0
// `gpus`, `kernels`, `models`: lists, one in full, and `validate`'s exit code.
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/model_summary.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using smtwin::test::smtwin_run;

namespace {

nlohmann::json report(const std::string& line) {
  const auto ran = smtwin_run(line + " --format json");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return nlohmann::json::parse(ran.out);
}

}  // namespace

TEST_CASE("a GPU in full has a provenance for every field", "[unit]") {
  const auto r = report("gpus rtx-pro-6000-server");
  CHECK(r["context"]["gpu"] == "rtx-pro-6000-server");
  CHECK(r["context"]["gpu_file"] == "gpus/rtx-pro-6000-server.json");
  CHECK(r["result"]["compute_capability"] == "12.0");
  bool found = false;
  for (const auto& field : r["result"]["fields"]) {
    CHECK_FALSE(field["provenance"].get<std::string>().empty());
    CHECK(field["value"].is_null() == (field["provenance"] == "unknown"));
    found = found || (field["path"] == "sm.shared_bytes_per_sm" && field["value"] == 102400);
  }
  CHECK(found);
}

TEST_CASE("an overridden field is an override in the full view", "[unit]") {
  const auto r = report("gpus h200 --set sm_count=66");
  for (const auto& field : r["result"]["fields"]) {
    if (field["path"] != "sm_count") continue;
    CHECK(field["value"] == 66);
    CHECK(field["provenance"] == "override");
  }
  CHECK(r["context"]["overrides"][0]["before"] == "132");
}

TEST_CASE("lists name everything that ships", "[unit]") {
  CHECK(report("gpus")["result"].size() >= 16);
  CHECK(report("kernels")["result"].size() >= 4);
  CHECK(report("models")["result"].size() >= 10);
}

TEST_CASE("a kernel in full has its parameters with roles", "[unit]") {
  const auto r = report("kernels sparse_decode_fieldnotes")["result"];
  CHECK(r["default_instance"]["shared_formula"] == "1152 x 16 + 1348 x 2 x 16 = 61,568");
  CHECK(r["parameters"][0]["name"] == "heads");
  CHECK(r["parameters"][0]["role"] == "shape");
  CHECK_FALSE(r["sources"].empty());
}

TEST_CASE("runs of layers are written short", "[unit]") {
  using smtwin::describe_indices;
  CHECK(describe_indices({0}) == "0");
  CHECK(describe_indices({0, 1}) == "0-1");
  CHECK(describe_indices({0, 2}) == "0, 2");
  CHECK(describe_indices({0, 1, 2, 3, 7}) == "0-3, 7");
  CHECK(describe_indices({1, 3, 5, 7}) == "1-7 every other");
  CHECK(describe_indices({3, 7, 11}) == "3-11 every 4th");
}

TEST_CASE("layers that are alike are one group", "[unit]") {
  // DeepSeek-V3: three dense layers, then 58 with experts.
  const auto r = report("models deepseek-v3")["result"];
  REQUIRE(r["layer_groups"].size() == 2);
  CHECK(r["layer_groups"][0]["layers"].size() == 3);
  CHECK(r["layer_groups"][1]["layers"].size() == 58);
}

TEST_CASE("validate exits 1 when a row differs and shows it in full", "[unit]") {
  // 33 registers give 12 CTAs of 128 threads on sm_90 (style's hand example); the table claims 15.
  const std::string header = "cc,regs,static_smem,threads,dyn_smem,carveout,api_blocks\n";
  const std::string right = header + "90,33,0,128,0,-1,12\n80,33,0,128,0,-1,12\n";
  CHECK(smtwin_run("validate --occupancy - --gpu h200", right).exit_code == 0);
  const auto ran = smtwin_run("validate --occupancy - --gpu h200 --format json",
                              right + "90,33,0,128,0,-1,15\n");
  CHECK(ran.exit_code == 1);
  const auto r = nlohmann::json::parse(ran.out)["result"];
  CHECK(r["rows"] == 3);
  CHECK(r["skipped"] == 1);  // sm_80 is not this GPU
  CHECK(r["mismatches"] == 1);
  CHECK(r["first_differences"][0]["line"] == 4);
  CHECK(r["first_differences"][0]["predicted_ctas_per_sm"] == 12);
}

TEST_CASE("validate --compiled counts kernels without a descriptor as skipped", "[unit]") {
  // 2 buffers of (64 + 64) x 64 x 2 B = 32,768 B with three stages.
  const std::string header = "kernel,cc,BLOCK_M,BLOCK_N,BLOCK_K,num_warps,num_stages,shared\n";
  const auto ran = smtwin_run("validate --compiled - --gpu rtx-pro-6000-server --format json",
                              header +
                                  "triton_gemm,120,64,64,64,4,3,32768\n"
                                  "somebody_elses,120,64,64,64,4,3,1\n");
  CHECK(ran.exit_code == 0);
  const auto r = nlohmann::json::parse(ran.out)["result"];
  CHECK(r["rows"] == 2);
  CHECK(r["skipped"] == 1);
  CHECK(r["mismatches"] == 0);
  const auto wrong =
      smtwin_run("validate --compiled -", header + "triton_gemm,120,64,64,64,4,3,32769\n");
  CHECK(wrong.exit_code == 1);
  CHECK(wrong.out.find("shared_bytes 32,769, computed 32,768") != std::string::npos);
}

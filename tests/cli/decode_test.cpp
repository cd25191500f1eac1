// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "cli/report.hpp"
#include "cli/verb.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Outcome decode(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "decode");
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int code = run(arguments, in, out, err);
  return {code, out.str(), err.str()};
}

Outcome decode_v4(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"--model", "deepseek-v4-flash", "--gpu",
                                     "rtx-pro-6000-server"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return decode(arguments);
}

Json result_of(std::vector<std::string> more) {
  more.insert(more.end(), {"--format", "json"});
  const Outcome outcome = decode_v4(more);
  REQUIRE(outcome.err.empty());
  return Json::parse(outcome.out).at("result");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("the table of DeepSeek-V4-Flash over layouts and batches") {
  const Outcome outcome =
      decode_v4({"--tp", "1,2,4,8", "--batch", "1,2,4,8,16,32,64,128", "--context", "8192"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  int rows = 0;
  for (const std::string& line : lines_of(outcome.out)) {
    CHECK(display_width(line) <= kReportColumns);
    rows += line.rfind("TP", 0) == 0 ? 1 : 0;
  }
  // TP1 is one row with its reason; three layouts of eight batches.
  CHECK(rows == 1 + 3 * 8);
  CHECK(outcome.out.find("does not fit") != std::string::npos);
  CHECK(outcome.out.find("284 B parameters") != std::string::npos);
  CHECK(outcome.out.find("rtx-pro-6000-server: fitted") != std::string::npos);
  CHECK(outcome.out.find("90 % intervals") != std::string::npos);
  const Outcome plain = decode_v4({"--tp", "2", "--profile", "none"});
  CHECK(plain.out.find("every time is assumed") != std::string::npos);
  CHECK(plain.out.find("90 %  ") == std::string::npos);
}

TEST_CASE("a layout that does not fit says what is missing and what would do") {
  const Json row = result_of({"--tp", "1", "--batch", "1,16"}).at("rows").at(0);
  CHECK(row.at("status") == "does_not_fit");
  CHECK(row.at("fits") == false);
  CHECK(row.at("gpus_that_fit") == 2);
  CHECK(row.at("step_s").is_null());
  CHECK(row.at("needed_bytes").get<double>() > row.at("memory_budget_bytes").get<double>());
  CHECK(row.at("weight_bytes_per_gpu").get<double>() == Approx(156e9).epsilon(0.01));
}

TEST_CASE("a batch beyond the cache says how many it holds") {
  const Json rows = result_of({"--tp", "4", "--batch", "16,4000"}).at("rows");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("status") == "runs");
  CHECK(rows[1].at("status") == "batch_too_large");
  const auto most = rows[1].at("max_batch").get<int>();
  CHECK(most < 4000);
  CHECK(rows[1].at("reason") ==
        "the cache holds " + format_count(most) + " sequences of 8,192 tokens");
  // Exactly that many still run.
  CHECK(result_of({"--tp", "4", "--batch", std::to_string(most)}).at("rows")[0].at("status") ==
        "runs");
}

TEST_CASE("JSON carries base units that belong together") {
  const Json result = result_of({"--tp", "4", "--dp", "2", "--batch", "16"});
  const Json row = result.at("rows").at(0);
  const double step_s = row.at("step_s");
  CHECK(step_s > 5e-3);
  CHECK(step_s < 50e-3);
  CHECK(row.at("gpus") == 8);
  CHECK(row.at("tokens_per_s_user").get<double>() == Approx(1 / step_s));
  CHECK(row.at("tokens_per_s_gpu").get<double>() == Approx(16 / (4 * step_s)));
  CHECK(row.at("tokens_per_s").get<double>() == Approx(2 * 16 / step_s));
  double groups = 0;
  for (const auto& [name, seconds] : row.at("groups_s").items()) groups += seconds.get<double>();
  CHECK(groups == Approx(step_s));
  CHECK(row.at("groups_s").contains("hyper_connections"));
  CHECK(row.at("provenance") == "fitted");
  CHECK(row.at("interval_s")[0].get<double>() < step_s);
  CHECK(row.at("interval_s")[1].get<double>() > step_s);
  CHECK(row.at("fitted_s").get<double>() < step_s);
  CHECK(result.at("model").at("total_parameters").get<double>() == Approx(284e9).epsilon(0.01));
}

TEST_CASE("the breakdown lists every kernel in each format") {
  const Json segments =
      result_of({"--tp", "4", "--batch", "16", "--breakdown"}).at("rows")[0].at("segments");
  int layers = 0;
  double step_s = 0;
  for (const Json& segment : segments) {
    step_s += segment.at("count").get<int>() * segment.at("seconds").get<double>();
    if (segment.at("name") != "embedding" && segment.at("name") != "output") {
      layers += segment.at("count").get<int>();
    }
  }
  CHECK(layers == 43);
  CHECK(step_s ==
        Approx(result_of({"--tp", "4", "--batch", "16"}).at("rows")[0].at("step_s").get<double>()));

  const Outcome table = decode_v4({"--tp", "4", "--batch", "16", "--breakdown"});
  CHECK(table.out.find("|| shared_gate_up") != std::string::npos);
  for (const std::string& line : lines_of(table.out)) CHECK(display_width(line) <= kReportColumns);
  const Outcome csv = decode_v4({"--tp", "4", "--batch", "16", "--breakdown", "--format", "csv"});
  CHECK(lines_of(csv.out).front().rfind("tp,ep,dp,batch,context,segment", 0) == 0);
  CHECK(lines_of(csv.out).size() > 100);
}

TEST_CASE("CSV has a row for each layout and batch") {
  const Outcome csv = decode_v4({"--tp", "1,4", "--batch", "1,16", "--format", "csv"});
  const auto lines = lines_of(csv.out);
  REQUIRE(lines.size() == 1 + 1 + 2);
  CHECK(lines[1].find("does_not_fit") != std::string::npos);
  CHECK(lines[2].find("DeepSeek-V4-Flash,rtx-pro-6000-server,4,1,1,1,8192,runs") == 0);
}

TEST_CASE("an explanation ends in the family of a fitted kernel, with its error and constants") {
  const Outcome outcome = decode_v4({"--tp", "4", "--batch", "16", "--explain"});
  CHECK(outcome.out.find("costliest       experts_gate_up") != std::string::npos);
  CHECK(outcome.out.find("family          moe_perf/") != std::string::npos);
  CHECK(outcome.out.find("median") != std::string::npos);
  CHECK(outcome.out.find("alone           ") != std::string::npos);
  CHECK(outcome.out.find("constants       dram_rate ") != std::string::npos);
}

TEST_CASE("an explanation without a profile ends in the equation of a kernel") {
  const Outcome outcome =
      decode_v4({"--tp", "4", "--batch", "16", "--explain", "--profile", "none"});
  CHECK(outcome.out.find("how TP4 at batch 16 gets") != std::string::npos);
  CHECK(outcome.out.find("costliest       experts_gate_up") != std::string::npos);
  CHECK(outcome.out.find("dram            (") != std::string::npos);
  CHECK(outcome.out.find("shared bytes") != std::string::npos);
  for (const std::string& line : lines_of(outcome.out)) {
    CHECK(display_width(line) <= kReportColumns);
  }
}

TEST_CASE("a changed tile shows up in tokens per second, and is listed") {
  const auto step_of = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--tp", "4", "--batch", "64"});
    return result_of(more).at("rows")[0].at("step_s").get<double>();
  };
  const double base = step_of({});
  CHECK(step_of({"--set", "kernel.triton_moe_gemm.block_m=128"}) > base);
  CHECK(step_of({"--set", "dram_bytes_per_s=3e12"}) < base);
  CHECK(step_of({"--set", "model.num_experts_per_tok=3"}) < base);
  const Outcome outcome = decode_v4({"--tp", "4", "--set", "kernel.triton-moe-gemm.num_stages=2"});
  CHECK(outcome.out.find("kernel.triton_moe_gemm.num_stages") != std::string::npos);
}

TEST_CASE("a tile that fits no SM is a row without a time") {
  const Json row = result_of({"--tp", "4", "--set", "kernel.triton_moe_gemm.block_m=256", "--set",
                              "kernel.triton_moe_gemm.block_n=256"})
                       .at("rows")[0];
  CHECK(row.at("status") == "no_kernel");
  CHECK(row.at("reason") == "no kernel configuration fits an SM for experts_gate_up");
}

TEST_CASE("illegal layouts: an error alone, a row in a list") {
  const Outcome alone = decode_v4({"--tp", "6"});
  CHECK(alone.exit_code == 2);
  CHECK(alone.out.empty());
  CHECK(alone.err ==
        "error: deepseek-v4-flash.json: /num_attention_heads: 64 heads cannot be split over --tp "
        "6; use 1, 2, 4 or 8\n");
  CHECK(decode_v4({"--tp", "6,16"}).exit_code == 2);
  const Json rows = result_of({"--tp", "6,4"}).at("rows");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("status") == "refused");
  CHECK(rows[0].at("reason") == "64 heads cannot be split over --tp 6");
  CHECK(rows[1].at("status") == "runs");
  const Outcome many =
      decode({"--model", "llama-3.1-8b", "--gpu", "rtx-pro-6000-server", "--tp", "16"});
  CHECK(many.exit_code == 2);
  CHECK(many.err ==
        "error: --tp 16: a collective of 16 GPUs is not modelled; 2, 4 and 8 GPUs of one host "
        "are\n");
}

TEST_CASE("what cannot be meant is one line and exit code 2") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--tp", "0"}, "--tp 0: a replica has 1 to 64 GPUs"},
      {{"--batch", "0"}, "--batch 0: a replica runs 1 to 65,536 sequences"},
      {{"--context", "2000000"},
       "--context 2000000: DeepSeek-V4-Flash was made for 1 to 1,048,576 tokens "
       "(max_position_embeddings)"},
      {{"--kv-dtype", "int4"}, "--kv-dtype \"int4\": use auto, bf16 or fp8"},
      {{"--memory-utilization", "1.5"},
       "--memory-utilization 1.5: a share of the memory, 0.01 to 1"},
      {{"--host-time", "-1"}, "--host-time -1: seconds a step, 0 to 10 (0.0005)"},
      {{"--set", "kernel.flash.x=1"},
       "--set kernel.flash.x: a decode step runs on triton_gemm, triton_moe_gemm, cutlass_nvfp4, "
       "sparse_decode_fieldnotes"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = decode_v4(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == "error: " + message + '\n');
  }
  CHECK(decode({"--model", "llama-3.1-8b", "--gpu", "h200", "--tp", "2", "--ep", "2"}).err ==
        "error: --ep 2: Llama-3.1-8B has no experts to split; leave --ep out\n");
  CHECK(decode({"--gpu", "h200"}).err.rfind("error: --model is missing", 0) == 0);
}

TEST_CASE("Llama-3.1-8B near the time its bytes take") {
  // 15.01 GB of weights and 8192 x 131,072 B of cache at 1536 GB/s are 10.5 ms.
  const Outcome outcome =
      decode({"--model", "llama-3.1-8b", "--gpu", "rtx-pro-6000-server", "--format", "json"});
  const Json row = Json::parse(outcome.out).at("result").at("rows")[0];
  CHECK(row.at("context") == 8192);
  CHECK(row.at("kv_bytes_per_token") == 131072);
  CHECK(row.at("step_s").get<double>() > 10.5e-3);
  CHECK(row.at("step_s").get<double>() < 12e-3);
}

TEST_CASE("sampling, host time and padding are switches that cost what they should") {
  const auto step_of = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--tp", "4", "--batch", "33"});
    return result_of(more).at("rows")[0].at("step_s").get<double>();
  };
  const double base = step_of({});
  CHECK(step_of({"--greedy"}) < base);
  CHECK(step_of({"--no-padding"}) < base);  // 33 rows instead of 40
  CHECK(step_of({"--host-time", "0.001"}) == Approx(base + 1e-3));
}

}  // namespace
}  // namespace smtwin

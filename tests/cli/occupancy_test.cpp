// SPDX-License-Identifier: Apache-2.0
// `smtwin occupancy`: the answers of hand examples, refusals with their way out, and many rows.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using smtwin::test::smtwin_run;

namespace {

nlohmann::json result_of(const std::string& line) {
  const auto ran = smtwin_run(line + " --format json");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return nlohmann::json::parse(ran.out)["result"];
}

}  // namespace

TEST_CASE("one CTA of the sparse decode fills an SM120 by its bytes", "[unit]") {
  // 61,568 + 1,024 = 62,592; 102,400 / 62,592 = 1. Two need (102,400 / 2 - 1,024) = 50,176 B,
  // which is 11,392 B less. 255 registers: 8,192 a warp, 8 warps, 2 CTAs of 4.
  const auto r = result_of("occupancy --gpu sm_120 --threads 128 --regs 255 --smem 61568");
  CHECK(r["ctas_per_sm"] == 1);
  CHECK(r["limiters"] == nlohmann::json({"shared_memory"}));
  CHECK(r["theoretical_occupancy"].get<double>() == Approx(4.0 / 48));
  CHECK(r["limits"]["registers"] == 2);
  CHECK(r["next_steps"][0]["ctas_per_sm"] == 2);
  CHECK(r["next_steps"][0]["needs"][0]["at_most"] == 50176);
  CHECK(r["next_steps"][0]["needs"][0]["reduce_by"] == 11392);
  CHECK(r["shared_memory"]["opt_in_required"] == true);
}

TEST_CASE("a step that two resources hold up names both", "[unit]") {
  // Three CTAs: 102,400 / 3 = 34,133 -> 34,048 in units of 128, less 1,024 = 33,024 B; 12 warps are
  // 3 a partition, 16,384 / 3 = 5,461 -> 5,376 in units of 256, / 32 = 168 registers.
  const auto r = result_of("occupancy --gpu sm_120 --threads 128 --regs 255 --smem 61568");
  const auto& step = r["next_steps"][1];
  CHECK(step["ctas_per_sm"] == 3);
  CHECK(step["needs"][0]["at_most"] == 33024);
  CHECK(step["needs"][1]["at_most"] == 168);
  CHECK(step["text"] ==
        "3 CTAs (25 %) need both <= 33,024 B of shared memory, 28,544 B less, and <= 168 registers "
        "per thread, 87 less");
}

TEST_CASE("refusals are told apart, each with its way out", "[unit]") {
  const auto bytes = result_of("occupancy --gpu sm_120 --threads 128 --smem 104704");
  CHECK(bytes["verdict"] == "shared_exceeds_cta_limit");
  CHECK(bytes["shared_memory"]["over_limit_bytes"] == 3328);
  CHECK(bytes["reason"] ==
        "does not fit: 104,704 B of shared memory, 3,328 B over the 101,376 B one CTA can have on "
        "sm_120 (on-chip memory, not VRAM)");

  // 49,152 dynamic + 1 static: one byte over the default, far below the opt-in limit.
  const auto opt_in =
      result_of("occupancy --gpu sm_120 --threads 128 --smem 49152 --static-smem 1 --no-opt-in");
  CHECK(opt_in["verdict"] == "shared_needs_opt_in");
  CHECK(opt_in["next_steps"][0]["text"] == "2 CTAs (16.7 %) with opt-in, nothing else changed");
  CHECK(opt_in["next_steps"][1]["needs"][0]["reduce_by"] == 1);

  // 162 x 32 = 5,184 -> 5,376 a warp, x 16 = 86,016 > 65,536; 12 warps = 384 threads fit.
  const auto registers = result_of("occupancy --gpu rtx-4090 --threads 512 --regs 162");
  CHECK(registers["verdict"] == "registers_exceed_cta_limit");
  CHECK(registers["ctas_per_sm"] == 0);
  CHECK(registers["cta"]["max_threads_at_these_registers"] == 384);

  const auto bound = result_of("occupancy --gpu h100 --threads 384 --max-threads 256");
  CHECK(bound["verdict"] == "threads_exceed_function_limit");
  const auto cluster = result_of("occupancy --gpu h100 --threads 256 --cluster 4x8x1");
  CHECK(cluster["verdict"] == "cluster_exceeds_limit");
  const auto wide = result_of("occupancy --gpu sm_90 --threads 32 --regs 300");
  CHECK(wide["verdict"] == "registers_exceed_thread_limit");
}

TEST_CASE("without opt-in a step stays below the default limit", "[unit]") {
  // Two CTAs would fit with 50,176 B, but a plain launch may ask for 49,152 B only.
  const auto r = result_of("occupancy --gpu sm_120 --threads 128 --smem 60000 --no-opt-in");
  CHECK(r["next_steps"][0]["ctas_per_sm"] == 1);
  CHECK(r["next_steps"][1]["ctas_per_sm"] == 2);
  CHECK(r["next_steps"][1]["needs"][0]["at_most"] == 49152);
}

TEST_CASE("what was not given is said", "[unit]") {
  const auto r = result_of("occupancy --gpu sm_120 --smem 110592");
  CHECK(r["cta"]["threads"] == 32);
  CHECK(r["notes"] ==
        nlohmann::json({"--threads not given: one warp (32 threads) assumed, the smallest CTA",
                        "--regs not given: registers are not counted"}));
}

TEST_CASE("a kernel's configuration brings its own resources, which flags can replace", "[unit]") {
  const std::string kernel =
      "occupancy --kernel sparse_decode_fieldnotes --gpu sm_120 --set sm_count=188 --heads 64 "
      "--config BT16/w8/s2";
  const auto r = result_of(kernel);
  CHECK(r["cta"]["threads"] == 256);
  CHECK(r["cta"]["dynamic_shared_bytes"] == 80000);
  CHECK(r["theoretical_occupancy"].get<double>() == Approx(8.0 / 48));
  CHECK(result_of(kernel + " --regs 128")["cta"]["registers_per_thread"] == 128);
}

TEST_CASE("an overridden chip answers for the override and says so", "[unit]") {
  const auto ran = smtwin_run(
      "occupancy --gpu rtx-pro-6000-server --threads 128 --regs 128 --smem 61568 --set "
      "sm.shared_bytes_per_sm=228KiB");
  // 233,472 / 62,592 = 3; 128 registers allow 4.
  CHECK(ran.out.find("resident        3 CTAs = 12 of 48 warps, 25 %") != std::string::npos);
  CHECK(ran.out.find("override        sm.shared_bytes_per_sm 102400 -> 233472\n") !=
        std::string::npos);
}

TEST_CASE("many rows come back with their answers appended", "[unit]") {
  // Line 2: style's hand example, 33 registers give 12 CTAs. Line 3: 60 % of 48 warps by threads.
  const std::string rows =
      "note,threads,regs,dyn_smem,gpu\n"
      "\"a, b\",128,33,0,h200\n"
      "x,128,255,61568,rtx-pro-6000-server\n";
  const auto ran = smtwin_run("occupancy --from -", rows);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out ==
        "note,threads,regs,dyn_smem,gpu,ctas_per_sm,limiters,theoretical_occupancy,verdict\n"
        "\"a, b\",128,33,0,h200,12,registers,0.75,launches\n"
        "x,128,255,61568,rtx-pro-6000-server,1,shared_memory,0.08333333333333333,launches\n");
  const auto json = smtwin_run("occupancy --from - --format json", rows);
  CHECK(nlohmann::json::parse(json.out)["result"][1]["ctas_per_sm"] == 1);
}

TEST_CASE("a bad row is an error with its line, and nothing is printed", "[unit]") {
  const auto complaint = [](const std::string& rows, const std::string& flags = "") {
    const auto ran = smtwin_run("occupancy --from - " + flags, rows);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    return ran.err;
  };
  const std::string header = "cc,threads,regs,dyn_smem\n90,128,32,0\n";
  CHECK(complaint(header + "90,0,32,0\n") ==
        "error: stdin:3: threads: expected an integer from 1 to 1024, found \"0\"\n");
  CHECK(complaint(header + "90,128,x,0\n").rfind("error: stdin:3: regs: ", 0) == 0);
  CHECK(complaint(header + "90,128,32,-1\n").rfind("error: stdin:3: dyn_smem: ", 0) == 0);
  CHECK(complaint(header + "999,128,32,0\n").rfind("error: stdin:3: unknown gpu", 0) == 0);
  CHECK(complaint(header + "90,128,32,0\n", "--gpu rtx-5090") ==
        "error: stdin:2: cc: 90, but --gpu rtx-5090 is sm_120; leave --gpu out to answer each row "
        "for its own chip\n");
  CHECK(complaint("threads,regs,dyn_smem\n1,1,1\n") ==
        "error: --gpu is missing, and stdin has neither a gpu nor a cc column; give --gpu NAME or "
        "add one of them\n");
  CHECK(complaint("threads,regs\n1,1\n", "--gpu h200").find("dyn_smem") != std::string::npos);
}

TEST_CASE("the plot marks the present point and needs no Unicode", "[unit]") {
  const auto ran =
      smtwin_run("occupancy --gpu sm_120 --threads 128 --regs 255 --smem 61568 --plot --ascii");
  CHECK(ran.out.find("    2  16.7 %   50,176   |####") != std::string::npos);
  CHECK(ran.out.find("@ now: 61,568 B") != std::string::npos);
  CHECK(std::all_of(ran.out.begin(), ran.out.end(), [](char c) { return (c & 0x80) == 0; }));
}

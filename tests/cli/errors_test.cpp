// SPDX-License-Identifier: Apache-2.0
// Bad input: one clear line on stderr, exit 2, nothing on stdout.
#include <algorithm>
#include <iomanip>
#include <utility>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using smtwin::test::smtwin_run;

TEST_CASE("bad input is one line that says what is wrong and what is allowed", "[unit]") {
  using Case = std::pair<std::string, std::string>;
  const auto [line, message] = GENERATE(
      Case{"", "name a verb, for example `smtwin gpus` (smtwin --help lists all)"},
      Case{"ocupancy", "unknown verb \"ocupancy\"; did you mean occupancy? (smtwin --help)"},
      Case{"occupancy --gpu h200 --threads 0", "--threads 0: a CTA has 1 to 1024 threads"},
      Case{"occupancy --gpu h200 --threads 2000", "--threads 2000: a CTA has 1 to 1024 threads"},
      Case{"occupancy --gpu h200 --threads -1", "--threads -1: a CTA has 1 to 1024 threads"},
      Case{"occupancy --gpu h200 --threads abc",
           "--threads: expected a whole number, found \"abc\"; a CTA has 1 to 1024 threads"},
      Case{"occupancy --gpu h200 --threads 1e30",
           "--threads: expected a whole number, found \"1e30\"; a CTA has 1 to 1024 threads"},
      Case{"occupancy --gpu h200 --threads 99999999999999999999",
           "--threads 99999999999999999999: a CTA has 1 to 1024 threads"},
      Case{"occupancy --gpu h200 --threads 32 --smem -5", "--smem -5: bytes cannot be negative"},
      Case{"occupancy --gpu h200 --threads 32 --smem=-5", "--smem -5: bytes cannot be negative"},
      Case{"occupancy --gpu h200 --threads 32 --smem 1e30",
           "--smem 1e30: more bytes than any machine has"},
      Case{"occupancy --gpu h200 --threads 32 --smem 0.5",
           "--smem 0.5: not a whole number of bytes"},
      Case{"occupancy --gpu h200 --threads 32 --smem nan",
           "--smem: expected bytes like 61568, 16KiB or 1MB, found \"nan\" (not a number)"},
      Case{"occupancy --gpu h200 --threads 32 --regs -1",
           "--regs -1: registers per thread, 0 to 256 on this chip"},
      Case{"occupancy --gpu h200 --threads 32 --carveout 101",
           "--carveout 101: a percentage, 0 to 100, or -1 for no preference"},
      Case{"occupancy --gpu h200 --threads 32 --cluster 0",
           "--cluster 0: a cluster has 1 to 1,024 CTAs, as 8 or 2x2x1"},
      Case{"occupancy --gpu h200",
           "nothing to answer: give --threads, --regs and --smem, or "
           "--kernel, or --from rows.csv (smtwin occupancy --help)"},
      Case{"occupancy --threads 32",
           "--gpu is missing; name one, for example --gpu rtx-pro-6000-server (smtwin gpus lists "
           "all)"},
      Case{"occupancy --gpu rtx6000 --threads 32",
           "unknown gpu \"rtx6000\"; did you mean rtx-pro-6000-server, rtx-pro-6000-workstation, "
           "rtx-pro-6000-max-q? (smtwin gpus lists all)"},
      Case{"occupancy --gpu h200 --threads 32 --format xml",
           "--format \"xml\": use table, json or csv"},
      Case{"occupancy --gpu h200 --threads 32 --threads 64",
           "--threads: give it once, with one value (smtwin occupancy --help)"},
      Case{"occupancy --gpu h200 --thraeds 32",
           "unknown flag \"--thraeds\"; did you mean --threads? (a kernel's parameters need "
           "--kernel; smtwin occupancy --help)"},
      Case{"occupancy --gpu h200 --threads 32 stray",
           "unexpected argument \"stray\" (smtwin occupancy --help)"},
      Case{"occupancy --gpu h200 --threads 32 --config BT16",
           "--config needs --kernel; name one (smtwin kernels lists all)"},
      Case{"occupancy --gpu h200 --from no-such.csv",
           "no-such.csv: cannot be read; --from wants a CSV file, or - for stdin"},
      Case{"occupancy --gpu h200 --from rows.csv --threads 32",
           "--from takes every kernel from its file; leave out the other flags"},
      Case{"occupancy --gpu h200 --threads 32 -o /no-such-folder/report",
           "/no-such-folder/report: cannot be written (the folder is missing, read-only or full)"},
      Case{"fit --gpu h200",
           "--kernel is missing; name one, for example --kernel triton_gemm "
           "(smtwin kernels lists all)"},
      Case{"fit --kernel triton_gemm --gpu h200 --block-q 3",
           "unknown flag \"--block-q\"; did you mean --block_m, --block_n, --block_k? (smtwin "
           "kernels triton_gemm lists the parameters)"},
      Case{"fit --kernel triton_gemm --gpu h200 --m",
           "--m: a value is missing (smtwin fit --help)"},
      Case{"fit --kernel triton_gemm --gpu h200 --m 3 --m 5",
           "--m: give it once, with one value (smtwin fit --help)"},
      Case{"fit --kernel triton_gemm --gpu h200 --list a,,b",
           "--list \"a,,b\": an entry is empty; write \"A,B,C\""},
      Case{"fit --kernel triton_gemm --gpu h200 --l2 hot", "--l2 \"hot\": use cold or warm"},
      Case{"fit --kernel triton_gemm --gpu h200 --set m",
           "--set \"m\": expected path=value, for example sm.shared_bytes_per_sm=228KiB"},
      Case{"fit --kernel triton_gemm --gpu h200 --set m=3 --set m=5",
           "--set m: set twice; give several values as m=v1,v2"},
      Case{"fit --kernel triton_gemm --gpu h200 --set m=3,5",
           "--set m: one value expected, found 2; `smtwin whatif` compares several"},
      Case{"fit --kernel triton_gemm --gpu h200 --set m=3,",
           "--set \"m=3,\": a value of the list is empty"},
      Case{"fit --kernel triton_gemm --gpu h200 --set sm.shared_byte_per_sm=1",
           "--set sm.shared_byte_per_sm: neither a parameter of triton_gemm nor a field of a GPU; "
           "did you mean sm.shared_bytes_per_sm?"},
      Case{"whatif --kernel triton_gemm --gpu h200",
           "nothing to compare: give --set key=value (against the base), --set key=v1,v2, or "
           "--gpu A,B"},
      Case{"predict --kernel triton_gemm --gpu sm-86",
           "sm-86: sm_clock_hz is not known for this GPU; give it with --set sm_clock_hz=VALUE"},
      Case{"gpus --set sm_count=3", "--set needs a GPU: gpus NAME"},
      Case{"models --set sm_count=3 llama-3.1-8b",
           "--set sm_count: models has no GPU; use model.FIELD"},
      Case{"validate",
           "validate needs one of --occupancy FILE.csv --gpu G, --compiled FILE.csv, "
           "--measurements DIR|FILES, --run FILES and --device 0"},
      Case{"validate --compiled no-such.csv",
           "no-such.csv: cannot be read; give a CSV file, or - for stdin"});
  const auto ran = smtwin_run(line);
  INFO(line);
  CHECK(ran.exit_code == 2);
  CHECK(ran.out.empty());
  CHECK(ran.err == "error: " + message + "\n");
}

TEST_CASE("too many combinations of whatif are refused, not computed", "[unit]") {
  std::string values = "1";
  for (int i = 2; i <= 65; ++i) values.append(",").append(std::to_string(i));
  const auto ran = smtwin_run("whatif --kernel triton_gemm --gpu h200 --set m=" + values);
  CHECK(ran.exit_code == 2);
  CHECK(ran.err ==
        "error: whatif compares at most 64 combinations; leave out some values of "
        "--set\n");
}

TEST_CASE("a pasted monster is quoted short and on one line", "[unit]") {
  std::ostringstream monster;
  monster << std::setfill('x') << std::setw(5000) << '\n' << "second line";
  const auto ran = smtwin_run({"occupancy", "--gpu", "h200", "--threads", monster.str()});
  CHECK(ran.exit_code == 2);
  CHECK(ran.err.size() < 200);
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
}

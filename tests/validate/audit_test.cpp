// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/audit.hpp"

#include "tests/catch.hpp"
#include "validate/measurements/audit_work.hpp"

namespace smtwin {
namespace {

// 1 TB/s, 100 MB of L2, 100, 200, 400 Tflop/s.
const TimingGpu* round_gpu(std::string_view device) {
  static const TimingGpu gpu = [] {
    TimingGpu g;
    g.l2_bytes = 100e6;
    g.dram_bytes_per_s = 1e12;
    g.bf16_flops_per_s = 100e12;
    g.fp8_flops_per_s = 200e12;
    g.nvfp4_flops_per_s = 400e12;
    g.pcie_bytes_per_s = 50e9;
    return g;
  }();
  return device == "round" ? &gpu : nullptr;
}

struct GemmCase {
  double m = 1, n = 1, k = 1, seconds = 1;
};

MeasurementRow gemm(std::string_view framework, std::string_view dtype, const GemmCase& c) {
  MeasurementRow row;
  row.table = MeasurementTable::gemm;
  row.device = "round";
  row.framework = framework;
  row.op_name = "gemm";
  row.kernel_source = "linear";
  row.dtype = dtype;
  row.m = c.m;
  row.n = c.n;
  row.k = c.k;
  row.latency_s = c.seconds;
  return row;
}

std::vector<AuditFinding> audited(const std::vector<MeasurementRow>& rows) {
  return audit(rows, round_gpu);
}

TEST_CASE("weights beyond the L2 cannot arrive faster than DRAM gives them") {
  // 8192 x 8192 x 2 B = 134.217728 MB. One copy: 34.217728 MB must come from DRAM, 34.2177 us.
  // vLLM's six copies leave 100/6 MB of each in the L2: 117.551061 us.
  const auto trtllm = [](double us) {
    return gemm("TRTLLM", "bfloat16", {1, 8192, 8192, us * 1e-6});
  };
  const auto vllm = [](double us) { return gemm("VLLM", "bfloat16", {1, 8192, 8192, us * 1e-6}); };
  CHECK(audited({trtllm(34.3)}).empty());
  CHECK(audited({vllm(117.6)}).empty());
  REQUIRE(audited({trtllm(34.2)}).size() == 1);
  const std::vector<MeasurementRow> fast = {vllm(117.5)};
  const auto findings = audited(fast);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().kind == AuditKind::faster_than_dram);
  CHECK(findings.front().row == fast.data());
  CHECK(findings.front().reason ==
        "118 us, but 134 MB in each of 6 rotated copies less what the L2 holds take 118 us at "
        "1.00 TB/s");
}

TEST_CASE("operations cannot outrun the tensor cores") {
  // 2 x 4096^3 = 137.438953 Gflop: 1374.39 us at 100 Tflop/s, 687.19 us as FP8.
  CHECK(audited({gemm("TRTLLM", "bfloat16", {4096, 4096, 4096, 1375e-6})}).empty());
  const auto findings = audited({gemm("TRTLLM", "bfloat16", {4096, 4096, 4096, 1374e-6})});
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().kind == AuditKind::faster_than_tensor);
  CHECK(audited({gemm("TRTLLM", "fp8", {4096, 4096, 4096, 688e-6})}).empty());
  CHECK(audited({gemm("TRTLLM", "fp8", {4096, 4096, 4096, 687e-6})}).size() == 1);
}

TEST_CASE("bytes of a KV cache") {
  MeasurementRow row;
  row.table = MeasurementTable::generation_attention;
  row.kv_dtype = "fp8";
  row.batch_size = 4;
  row.step = 999;
  row.num_key_value_heads = 8;
  row.head_dim = 128;
  // 4 x 1000 tokens x 2 x 8 x 128 x 1 B
  CHECK(row_work(row).bytes == 8192000);
  row.window_size = 100;
  CHECK(row_work(row).bytes == 819200);
  row.table = MeasurementTable::generation_mla;
  row.window_size = 0;
  row.kv_dtype = "bfloat16";
  CHECK(row_work(row).bytes == 4 * 1000 * 576 * 2);
}

TEST_CASE("bytes of active experts, where routing is certain") {
  MeasurementRow row;
  row.table = MeasurementTable::moe;
  row.dtype = "fp8";
  row.distribution = "balanced";
  row.hidden_size = 100;
  row.inter_size = 40;
  row.num_experts = 64;
  row.topk = 8;
  row.num_tokens = 2;
  row.moe_tp_size = 2;
  row.moe_ep_size = 1;
  // 2 tokens x 8 = 16 experts of 3 x 100 x 20 B
  CHECK(row_work(row).bytes == 16 * 6000);
  CHECK(row_work(row).flops == 2 * 16 * 6000);
  row.num_tokens = 1000;
  CHECK(row_work(row).bytes == 64 * 6000);
  row.moe_ep_size = 4;
  CHECK(row_work(row).bytes == 16 * 6000);
  row.kernel_source = "moe_torch_flow_nongated";
  CHECK(row_work(row).bytes == 16 * 4000);
  row.num_tokens = 2;  // which rank has them?
  CHECK(row_work(row).bytes == 0);
  row.moe_ep_size = 1;
  row.distribution = "power_law_1.2";
  CHECK(row_work(row).bytes == 0);
}

TEST_CASE("what is not known is not judged") {
  MeasurementRow stranger = gemm("TRTLLM", "bfloat16", {1, 8192, 8192, 1e-9});
  stranger.device = "something else";
  CHECK(audited({stranger}).empty());
  CHECK(audited({gemm("TRTLLM", "fp3", {1, 8192, 8192, 1e-9})}).empty());
  CHECK(audited({}).empty());
}

// Ten GEMMs of one kernel source with N = K from 64 to 1216: work differs 361 times.
std::vector<MeasurementRow> series(std::string_view source, double level_s, double per_byte_s) {
  std::vector<MeasurementRow> rows;
  for (int i = 0; i < 10; ++i) {
    const double n = 64 * (1 + 2 * i);
    const double wobble = i % 2 == 0 ? 1.05 : 0.95;
    rows.push_back(gemm("SGLang", "fp8", {1, n, n, wobble * level_s + per_byte_s * n * n}));
    rows.back().kernel_source = source;
  }
  return rows;
}

TEST_CASE("a level far above other kernels of the type is flat, whatever the size") {
  std::vector<MeasurementRow> rows = series("honest", 4e-6, 1e-12);
  const std::vector<MeasurementRow> broken = series("broken", 180e-6, 0);
  rows.insert(rows.end(), broken.begin(), broken.end());
  const auto findings = audited(rows);
  REQUIRE(findings.size() == 10);
  for (const AuditFinding& f : findings) {
    CHECK(f.kind == AuditKind::flat);
    CHECK(f.row->kernel_source == "broken");
  }
  // N = K = 64: 4096 B at 1 TB/s. The honest series starts at 0.95 x 4 us + 0.04 us.
  CHECK(findings.front().reason ==
        "189 us for 4.10 ns of work, at the level of 171 us of 10 rows; such kernels start at "
        "3.84 us");
  CHECK(audited(broken).size() == 10);  // also when nothing else is there to compare with
}

TEST_CASE("launch-bound and growing rows are not flat") {
  CHECK(audited(series("launch", 12e-6, 0)).empty());
  // Up to 1.5 ms more for the largest: not one level.
  CHECK(audited(series("slow", 100e-6, 1e-9)).empty());
  std::vector<MeasurementRow> few = series("broken", 180e-6, 0);
  few.resize(7);
  CHECK(audited(few).empty());
}

TEST_CASE("equal rows that disagree by more than a tenth") {
  std::vector<MeasurementRow> rows = {gemm("TRTLLM", "bfloat16", {1, 64, 64, 10e-6}),
                                      gemm("TRTLLM", "bfloat16", {1, 64, 64, 10.9e-6}),
                                      gemm("TRTLLM", "bfloat16", {1, 64, 64, 11.2e-6}),
                                      gemm("TRTLLM", "bfloat16", {2, 64, 64, 20e-6})};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].line = static_cast<std::uint32_t>(i + 2);
  const auto findings = audited(rows);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().row == &rows[2]);
  CHECK(findings.front().kind == AuditKind::duplicates);
  CHECK(findings.front().reason == "11.2 us, but 10.0 us in line 2 with equal columns");
  rows[2].file = 1;  // another file may be another machine
  CHECK(audited(rows).empty());
}

TEST_CASE("findings come in the order of the rows") {
  std::vector<MeasurementRow> rows = {gemm("TRTLLM", "bfloat16", {1, 64, 64, 12e-6}),
                                      gemm("TRTLLM", "bfloat16", {4096, 8192, 8192, 1e-6}),
                                      gemm("TRTLLM", "bfloat16", {1, 64, 64, 10e-6})};
  const auto findings = audited(rows);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].kind == AuditKind::duplicates);
  CHECK(findings[1].kind == AuditKind::faster_than_dram);
  CHECK(findings[2].kind == AuditKind::faster_than_tensor);
}

}  // namespace
}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/collective_rows.hpp"

#include <numeric>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "tests/validate/constants_in_use.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

MeasurementRow nccl_row(std::string_view op, std::string_view dtype, double gpus, double size) {
  MeasurementRow row;
  row.table = MeasurementTable::nccl;
  row.line = 7;
  row.kernel_source = "NCCL";
  row.op_name = op;
  row.dtype = dtype;
  row.num_gpus = gpus;
  row.message_size = size;
  row.latency_s = 1e-5;
  return row;
}

TimingGpu pcie_card() {
  TimingGpu gpu;
  gpu.compute_capability = {12, 0};
  gpu.pcie_bytes_per_s = 63e9;
  gpu.dram_bytes_per_s = 1.6e12;
  gpu.l2_bytes = 128e6;
  return gpu;
}

TEST_CASE("message_size counts elements") {
  const CollectiveQuestion half = collective_question(nccl_row("all_gather", "half", 4, 1024));
  CHECK(half.bytes == 2048);
  CHECK(half.op == CollectiveOp::all_gather);
  CHECK(half.gpus == 4);
  CHECK_FALSE(half.int8);
  CHECK_FALSE(half.clones_input);
  const CollectiveQuestion int8 = collective_question(nccl_row("alltoall", "int8", 8, 1024));
  CHECK(int8.bytes == 1024);
  CHECK(int8.int8);
  CHECK(int8.op == CollectiveOp::all_to_all);
}

TEST_CASE("the kernel source names library and launch") {
  MeasurementRow row = nccl_row("all_reduce", "bfloat16", 2, 128);
  row.kernel_source = "SGLang_CustomAllReduce_eager";
  const CollectiveQuestion eager = collective_question(row);
  CHECK(eager.provider == CollectiveLibrary::sglang);
  CHECK(eager.launch == CollectiveLaunch::eager);
  CHECK(eager.clones_input);
  row.kernel_source = "vLLM_custom_graph";
  CHECK(collective_question(row).provider == CollectiveLibrary::vllm);
  CHECK(collective_question(row).launch == CollectiveLaunch::graph);
}

TEST_CASE("rows that no rule covers are refused with their line") {
  MeasurementRow row = nccl_row("broadcast", "half", 2, 128);
  CHECK_THROWS_WITH(collective_question(row),
                    "nccl_perf line 7: op_name \"broadcast\" is not modelled; known: all_reduce, "
                    "all_gather, reduce_scatter, alltoall");
  CHECK_THROWS_WITH(collective_question(nccl_row("all_reduce", "fp8", 2, 128)),
                    "nccl_perf line 7: dtype \"fp8\" is not modelled; known: half, float16, "
                    "bfloat16, int8");
  CHECK_THROWS_AS(collective_question(nccl_row("all_reduce", "half", 1, 128)), DataError);
  CHECK_THROWS_AS(collective_question(nccl_row("all_reduce", "half", 2, 0)), DataError);
  row = nccl_row("all_reduce", "half", 2, 128);
  row.kernel_source = "MSCCL";
  CHECK_THROWS_AS(collective_question(row), DataError);
}

TEST_CASE("a problem knows which of the shared constants its points use") {
  // LL ring of two near GPUs, 256 B: launch and hops; no further warp, batch, far hop or rate.
  const MeasurementRow small = nccl_row("all_reduce", "half", 2, 128);
  // Two Simple sends between near GPUs.
  const MeasurementRow sends = nccl_row("alltoall", "half", 2, 1 << 20);
  const std::vector<const MeasurementRow*> rows = {&small, &sends};
  const auto problem = collective_row_problem(rows, pcie_card());
  REQUIRE(problem->size() == 2);
  const std::size_t first = 0, second = 1;
  CHECK(test::constants_in_use(*problem, {&first, 1}) ==
        std::vector<std::string>{"launch_s", "ll_hop_s"});
  CHECK(test::constants_in_use(*problem, {&second, 1}) ==
        std::vector<std::string>{"launch_s", "simple_hop_s", "alltoall_peer_s",
                                 "alltoall_fill_share", "alltoall_rate"});
}

TEST_CASE("every constant is used by some row, none of them by any") {
  for (const bool nvlink : {false, true}) {
    TimingGpu gpu = pcie_card();
    if (nvlink) {
      gpu.compute_capability = {9, 0};
      gpu.nvlink = true;
      gpu.nvlink_bytes_per_s = 450e9;
    }
    std::vector<MeasurementRow> rows;
    for (double size = 128; size < 1e9; size *= 4) {
      for (const double gpus : {2, 4, 8}) {
        for (const char* op : {"all_reduce", "reduce_scatter", "alltoall"}) {
          for (const char* dtype : {"half", "int8"}) {
            rows.push_back(nccl_row(op, dtype, gpus, size));
          }
        }
        for (const char* source :
             {"TRTLLM", "vLLM_custom_graph", "vLLM_custom_eager", "SGLang_CustomAllReduce_graph",
              "SGLang_CustomAllReduce_eager"}) {
          rows.push_back(nccl_row("all_reduce", "bfloat16", gpus, size));
          rows.back().kernel_source = source;
        }
      }
    }
    std::vector<const MeasurementRow*> pointers;
    for (const MeasurementRow& row : rows) pointers.push_back(&row);
    const auto problem = collective_row_problem(pointers, gpu);
    std::vector<std::size_t> all(rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<std::string> names;
    for (const ConstantSpec& spec : problem->constants()) names.push_back(spec.name);
    CHECK(test::constants_in_use(*problem, all) == names);
  }
}

TEST_CASE("points agree with the parts that explain them") {
  const MeasurementRow row = nccl_row("all_reduce", "half", 8, 1 << 24);
  const std::vector<const MeasurementRow*> rows = {&row};
  const auto problem = collective_row_problem(rows, pcie_card());
  std::vector<double> prior;
  for (const ConstantSpec& spec : problem->constants()) prior.push_back(spec.prior);
  int choice = 0;
  const TimeParts parts = problem->parts(0, prior);
  CHECK(parts.seconds == problem->seconds(0, prior, choice, true));
  CHECK(parts.choice == "NCCL Simple ring");
  CHECK(parts.regime() == Regime::link);
}

}  // namespace
}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// `message_size` counts elements in both tables (the largest, 512 Mi elements of 2 bytes, moves
// 1 GiB at the rate of the link), so bytes are it times the width of the type.
#include "validate/measurements/collective_rows.hpp"

#include <array>
#include <string>
#include <vector>

#include "arch/error.hpp"
#include "model/families/collectives/collective_time.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

struct KernelSource {
  std::string_view name;
  CollectiveLibrary provider;
  CollectiveLaunch launch;
};
// nccl-tests launches without a graph, but from C++ and many at once: no host time shows.
constexpr std::array<KernelSource, 6> kKernelSources = {{
    {"NCCL", CollectiveLibrary::nccl, CollectiveLaunch::graph},
    {"TRTLLM", CollectiveLibrary::trtllm, CollectiveLaunch::graph},
    {"vLLM_custom_graph", CollectiveLibrary::vllm, CollectiveLaunch::graph},
    {"vLLM_custom_eager", CollectiveLibrary::vllm, CollectiveLaunch::eager},
    {"SGLang_CustomAllReduce_graph", CollectiveLibrary::sglang, CollectiveLaunch::graph},
    {"SGLang_CustomAllReduce_eager", CollectiveLibrary::sglang, CollectiveLaunch::eager},
}};

std::string place(const MeasurementRow& row) {
  return std::string(to_string(row.table)) + " line " + std::to_string(row.line) + ": ";
}

[[noreturn]] void fail(const MeasurementRow& row, std::string_view field, std::string_view found,
                       const std::string& known) {
  throw DataError(place(row) + std::string(field) + " \"" + std::string(found) +
                  "\" is not modelled; known: " + known);
}

const KernelSource& kernel_source(const MeasurementRow& row) {
  std::string names;
  for (const KernelSource& source : kKernelSources) {
    if (source.name == row.kernel_source) return source;
    names += (names.empty() ? "" : ", ") + std::string(source.name);
  }
  fail(row, "kernel_source", row.kernel_source, names);
}

CollectiveOp operation(const MeasurementRow& row) {
  constexpr std::array<CollectiveOp, 4> kOps = {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                                CollectiveOp::reduce_scatter,
                                                CollectiveOp::all_to_all};
  std::string names;
  for (const CollectiveOp op : kOps) {
    if (to_string(op) == row.op_name) return op;
    names += (names.empty() ? "" : ", ") + std::string(to_string(op));
  }
  fail(row, "op_name", row.op_name, names);
}

class CollectiveRowProblem : public TimeProblem {
 public:
  CollectiveRowProblem(RowSpan rows, const TimingGpu& gpu) : model_(gpu) {
    plans_.reserve(rows.size());
    for (const MeasurementRow* row : rows) {
      plans_.push_back(model_.plan(collective_question(*row)));
    }
  }

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return plans_.size(); }
  double seconds(std::size_t i, std::span<const double> values, int& /*choice*/,
                 bool /*search*/) const override {
    return model_.seconds(plans_[i], values);
  }
  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    return model_.parts(plans_[i], values);
  }

 private:
  CollectiveTimeModel model_;
  std::vector<CollectivePlan> plans_;
};

}  // namespace

CollectiveQuestion collective_question(const MeasurementRow& row) {
  const KernelSource& source = kernel_source(row);
  const bool int8 = row.dtype == "int8";
  if (!int8 && row.dtype != "half" && row.dtype != "bfloat16" && row.dtype != "float16") {
    fail(row, "dtype", row.dtype, "half, float16, bfloat16, int8");
  }
  if (!(row.num_gpus >= 2 && row.num_gpus <= 1024) || !(row.message_size >= 1)) {
    throw DataError(place(row) + std::to_string(row.message_size) + " elements on " +
                    std::to_string(row.num_gpus) +
                    " GPUs is not modelled; known: 1 element and more, 2 to 1024 GPUs");
  }
  return {.op = operation(row),
          .gpus = static_cast<int>(row.num_gpus),
          .bytes = row.message_size * (int8 ? 1 : 2),
          .int8 = int8,
          .provider = source.provider,
          .launch = source.launch,
          .clones_input = source.launch == CollectiveLaunch::eager};
}

std::unique_ptr<TimeProblem> collective_row_problem(RowSpan rows, const TimingGpu& gpu) {
  return std::make_unique<CollectiveRowProblem>(rows, gpu);
}

}  // namespace smtwin

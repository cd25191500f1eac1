// SPDX-License-Identifier: Apache-2.0
// Rows of mla_bmm_perf as problems: the absorbed projections before (`mla_gen_pre`: 128 -> 512 per
// head) and after (`mla_gen_post`: 512 -> 128) latent attention, batched over heads. One operation
// a graph, 10 replays, one copy of the weights (read in collect_mla_bmm.py).
#include "arch/error.hpp"
#include "validate/measurements/gemm_rows_problem.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

constexpr double kLatentRank = 512;
constexpr double kHeadDim = 128;
constexpr double kReplays = 10;

GemmShape projection(const MeasurementRow& row) {
  GemmShape s{.b = row.num_heads, .m = row.num_tokens};
  if (row.op_name == "mla_gen_pre") {
    s.n = kLatentRank;
    s.k = kHeadDim;
  } else if (row.op_name == "mla_gen_post") {
    s.n = kHeadDim;
    s.k = kLatentRank;
  } else {
    refuse_row(row, "op_name \"" + std::string(row.op_name) +
                        "\" is not modelled; known: mla_gen_pre, mla_gen_post");
  }
  return s;
}

MeasuredGemm measured_projection(const MeasurementRow& row, const GemmTimeModel& model,
                                 const TimingGpu& gpu) {
  const GemmShape s = projection(row);
  const GemmTensors t = model.tensors(s);
  const double operands = model.implementation().quantizes() ? t.source + t.activations : t.all();
  MeasuredGemm out;
  out.point = model.point(s, {.weight_bytes = t.all(),
                              .activation_bytes = operands,
                              .output_bytes = t.all(),
                              .source_bytes = t.all()});
  out.loop = {.ops_per_replay = 1, .replays = kReplays, .tick_s = gpu.replay_tick_s};
  return out;
}

}  // namespace

std::unique_ptr<TimeProblem> mla_bmm_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) throw DataError("mla_bmm_perf: no rows");
  const MeasurementRow& first = *rows.front();
  GemmTimeModel model = made_of_row(first, [&] {
    return GemmTimeModel(mla_bmm_implementation(first.framework, first.dtype, gpu), gpu);
  });
  std::vector<MeasuredGemm> prepared;
  prepared.reserve(rows.size());
  for (const MeasurementRow* row : rows) prepared.push_back(measured_projection(*row, model, gpu));
  return std::make_unique<GemmRowsProblem>(std::move(model), std::move(prepared));
}

}  // namespace smtwin

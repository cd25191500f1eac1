// SPDX-License-Identifier: Apache-2.0
// Rows of decode attention -> prepared shapes of the library that ran them. `step` counts tokens
// already cached, the new token makes one more.
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arch/error.hpp"
#include "model/families/attention/attention_time.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

[[noreturn]] void refuse(const MeasurementRow& row, std::string_view column, std::string_view found,
                         const std::string& known) {
  throw DataError("generation_attention_perf line " + std::to_string(row.line) + ": " +
                  std::string(column) + " \"" + std::string(found) +
                  "\" is not modelled; known: " + known + "; leave these rows out");
}

struct Source {
  std::string_view name;
  AttentionLibrary provider;
};
constexpr std::array kSources = {Source{"vllm_flash_attn_fa2", AttentionLibrary::flash_attention2},
                                 Source{"vllm_flash_attn_fa3", AttentionLibrary::flash_attention3},
                                 Source{"fa3", AttentionLibrary::flash_attention3},
                                 Source{"vllm_flash_attn_fa4", AttentionLibrary::flash_attention4},
                                 Source{"torch_flow", AttentionLibrary::trtllm},
                                 Source{"flashinfer", AttentionLibrary::flashinfer},
                                 Source{"vllm_flashinfer_fidecode", AttentionLibrary::flashinfer},
                                 Source{"triton", AttentionLibrary::triton},
                                 Source{"vllm_triton_attn", AttentionLibrary::triton}};

AttentionLibrary library_of(const MeasurementRow& row) {
  std::string known;
  for (const Source& s : kSources) {
    if (s.name == row.kernel_source) return s.provider;
    known += (known.empty() ? "" : ", ") + std::string(s.name);
  }
  refuse(row, "kernel_source", row.kernel_source, known);
}

AttentionFamily family_of(const MeasurementRow& row) {
  AttentionFamily f;
  f.provider = library_of(row);
  const auto framework = serving_framework_from(row.framework);
  if (!framework) refuse(row, "framework", row.framework, "VLLM, SGLang, TRTLLM");
  f.framework = *framework;
  f.fp8_kv = row.kv_dtype == "fp8";
  if (!f.fp8_kv && row.kv_dtype != "bfloat16") {
    refuse(row, "kv_cache_dtype", row.kv_dtype, "bfloat16, fp8");
  }
  return f;
}

AttentionShape shape_of(const MeasurementRow& row) {
  if (std::fmod(row.num_heads, row.num_key_value_heads) != 0) {
    throw DataError("generation_attention_perf line " + std::to_string(row.line) + ": " +
                    std::to_string(static_cast<long>(row.num_heads)) + " heads cannot share " +
                    std::to_string(static_cast<long>(row.num_key_value_heads)) +
                    " KV heads; expected a multiple, leave this row out");
  }
  return {.batch = row.batch_size,
          .q_heads = row.num_heads,
          .kv_heads = row.num_key_value_heads,
          .head_dim = row.head_dim,
          .window = row.window_size,
          .kv_tokens = row.step + 1};
}

template <class Kernel>
class AttentionRowProblem final : public TimeProblem {
 public:
  AttentionRowProblem(AttentionTimeModel model, RowSpan rows) : model_(std::move(model)) {
    works_.reserve(rows.size());
    for (const MeasurementRow* row : rows) works_.push_back(kernel().work(shape_of(*row)));
  }

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return works_.size(); }

  double seconds(std::size_t i, std::span<const double> values, int&, bool search) const override {
    const double s = kernel().time(works_[i], values, CacheState::benchmark).seconds;
    return search ? model_.reading_s(s) : model_.smooth_reading_s(s);
  }

  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    TimeParts p =
        to_parts(kernel().time(works_[i], values, CacheState::benchmark), works_[i].splits);
    p.seconds = model_.reading_s(p.seconds);
    return p;
  }

 private:
  const Kernel& kernel() const { return std::get<Kernel>(model_.kernel()); }

  AttentionTimeModel model_;
  std::vector<typename Kernel::Work> works_;
};

}  // namespace

std::unique_ptr<TimeProblem> attention_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) throw DataError("decode attention: no rows, expected at least one");
  AttentionTimeModel model(gpu, family_of(*rows.front()));
  return std::visit(
      [&](const auto& kernel) -> std::unique_ptr<TimeProblem> {
        using Kernel = std::decay_t<decltype(kernel)>;
        return std::make_unique<AttentionRowProblem<Kernel>>(model, rows);
      },
      model.kernel());
}

}  // namespace smtwin

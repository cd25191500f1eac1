// SPDX-License-Identifier: Apache-2.0
// Rows of decode attention -> prepared shapes of the library that ran them. `step` counts tokens
// already cached, the new token makes one more.
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arch/error.hpp"
#include "model/families/attention/attention_time.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

template <class Kernel>
class AttentionRowProblem final : public TimeProblem {
 public:
  AttentionRowProblem(AttentionTimeModel model, RowSpan rows) : model_(std::move(model)) {
    works_.reserve(rows.size());
    for (const MeasurementRow* row : rows) {
      works_.push_back(kernel().work({.batch = row->batch_size,
                                      .q_heads = row->num_heads,
                                      .kv_heads = row->num_key_value_heads,
                                      .head_dim = row->head_dim,
                                      .window = row->window_size,
                                      .kv_tokens = row->step + 1}));
    }
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

bool starts_with_any_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower[i]) return false;
  }
  return true;
}

AttentionFamily family_of(const MeasurementRow& row) {
  AttentionFamily f;
  const std::string_view source = row.kernel_source;
  if (source == "vllm_flash_attn_fa2") {
    f.library = AttentionLibrary::flash_attention2;
  } else if (source == "vllm_flash_attn_fa3" || source == "fa3") {
    f.library = AttentionLibrary::flash_attention3;
  } else if (source == "vllm_flash_attn_fa4") {
    f.library = AttentionLibrary::flash_attention4;
  } else if (source == "torch_flow") {
    f.library = AttentionLibrary::trtllm;
  } else if (source == "flashinfer" || source == "vllm_flashinfer_fidecode") {
    f.library = AttentionLibrary::flashinfer;
  } else if (source == "triton" || source == "vllm_triton_attn") {
    f.library = AttentionLibrary::triton;
  } else {
    throw DataError("generation_attention_perf line " + std::to_string(row.line) +
                    ": kernel_source \"" + std::string(source) +
                    "\" is not modelled; known: vllm_flash_attn_fa2, vllm_flash_attn_fa3, fa3, "
                    "vllm_flash_attn_fa4, torch_flow, flashinfer, vllm_flashinfer_fidecode, "
                    "triton, vllm_triton_attn; leave these rows out");
  }
  if (starts_with_any_case(row.framework, "vllm")) {
    f.framework = AttentionFramework::vllm;
  } else if (starts_with_any_case(row.framework, "sglang")) {
    f.framework = AttentionFramework::sglang;
  } else if (starts_with_any_case(row.framework, "trtllm")) {
    f.framework = AttentionFramework::trtllm;
  } else {
    throw DataError("generation_attention_perf line " + std::to_string(row.line) +
                    ": framework \"" + std::string(row.framework) +
                    "\" is not modelled; known: VLLM, SGLang, TRTLLM; leave these rows out");
  }
  if (row.kv_dtype == "fp8") {
    f.fp8_kv = true;
  } else if (row.kv_dtype != "bfloat16") {
    throw DataError("generation_attention_perf line " + std::to_string(row.line) +
                    ": kv_cache_dtype \"" + std::string(row.kv_dtype) +
                    "\" is not modelled; known: bfloat16, fp8; leave these rows out");
  }
  return f;
}

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

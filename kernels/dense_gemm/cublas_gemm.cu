// SPDX-License-Identifier: Apache-2.0
// cuBLAS on the same problem, measured beside dense_gemm: cublasGemmEx for BF16, cublasLtMatmul
// with one scale a tensor for FP8, the first algorithm its heuristics name. Not part of the twin.
//
// cuBLAS thinks in columns: row-major D[m,n] is its D^T[n,m] = op_T(W) x A.
#include <algorithm>

#include "arch/error.hpp"
#include "arch/units.hpp"
#include "kernels/dense_gemm/buffers.hpp"
#include "kernels/dense_gemm/cublas_api.hpp"
#include "kernels/dense_gemm/live.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kWorkspaceBytes = 64 * kMiB;
constexpr int kAnswers = 8;  // asked of the heuristics

void check(cublas::Status status, const char* what) {
  if (status == cublas::kSuccess) return;
  throw DeviceError(std::string("cuBLAS: ") + what + " answered status " + std::to_string(status) +
                    "; this problem cannot be compared");
}

// A descriptor of cuBLASLt and how to destroy it.
class Owned {
 public:
  explicit Owned(cublas::Status (*destroy)(cublas::Opaque)) : destroy_(destroy) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) destroy_(object_);
  }
  cublas::Opaque* out() { return &object_; }
  cublas::Opaque get() const { return object_; }

 private:
  cublas::Status (*destroy_)(cublas::Opaque);
  cublas::Opaque object_ = nullptr;
};

class Bf16Problem final : public LiveProblem {
 public:
  Bf16Problem(const DenseGemmShape& shape, std::uint64_t seed)
      : api_(cublas::load().api),
        buffers_(shape, seed),
        workspace_(kWorkspaceBytes, "workspace of cuBLAS"),
        handle_(api_.destroy) {
    check(api_.create(handle_.out()), "cublasCreate");
  }

  void poison(DeviceStream stream) override { buffers_.poison(stream); }

  void launch(const Parameters&, DeviceStream stream, CtaTrace*) override {
    const DenseGemmShape& shape = buffers_.shape();
    const auto m = static_cast<int>(shape.m), n = static_cast<int>(shape.n),
               k = static_cast<int>(shape.k);
    const float one = 1, zero = 0;
    check(api_.set_stream(handle_.get(), stream), "cublasSetStream");
    check(api_.set_workspace(handle_.get(), workspace_.get(),
                             static_cast<std::size_t>(workspace_.bytes())),
          "cublasSetWorkspace");
    check(
        api_.gemm_ex(handle_.get(), cublas::kOpT, cublas::kOpN, n, m, k, &one, buffers_.w(),
                     cublas::kReal16Bf, k, buffers_.a(), cublas::kReal16Bf, k, &zero, buffers_.d(),
                     cublas::kReal16Bf, n, cublas::kCompute32F, cublas::kGemmDefault),
        "cublasGemmEx");
  }

  std::int64_t ctas(const Parameters&) const override { return 0; }
  double relative_error() override { return buffers_.relative_error(); }

 private:
  const cublas::Api& api_;
  GemmBuffers buffers_;
  DeviceMemory workspace_;
  Owned handle_;
};

class Fp8Problem final : public LiveProblem {
 public:
  Fp8Problem(const DenseGemmShape& shape, std::uint64_t seed)
      : api_(cublas::load().api),
        buffers_(shape, seed),
        workspace_(kWorkspaceBytes, "workspace of cuBLASLt"),
        handle_(api_.lt_destroy),
        matmul_(api_.desc_destroy),
        w_layout_(api_.layout_destroy),
        a_layout_(api_.layout_destroy),
        d_layout_(api_.layout_destroy) {
    check(api_.lt_create(handle_.out()), "cublasLtCreate");
    check(api_.desc_create(matmul_.out(), cublas::kCompute32F, cublas::kReal32F),
          "cublasLtMatmulDescCreate");
    set(cublas::kDescTransA, cublas::kOpT);
    set(cublas::kDescTransB, cublas::kOpN);
    set(cublas::kDescScaleA, buffers_.scale_w());
    set(cublas::kDescScaleB, buffers_.scale_a());
    set(cublas::kDescFastAccumulation, std::int8_t{1});
    layout(w_layout_, cublas::kRealE4m3, shape.k, shape.n);
    layout(a_layout_, cublas::kRealE4m3, shape.k, shape.m);
    layout(d_layout_, cublas::kReal16Bf, shape.n, shape.m);
    choose();
  }

  void poison(DeviceStream stream) override { buffers_.poison(stream); }

  void launch(const Parameters&, DeviceStream stream, CtaTrace*) override {
    check(matmul(stream), "cublasLtMatmul");
  }

  std::int64_t ctas(const Parameters&) const override { return 0; }
  double relative_error() override { return buffers_.relative_error(); }

 private:
  template <typename T>
  void set(int attribute, T value) {
    check(api_.desc_set(matmul_.get(), attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  void layout(Owned& to, int type, std::int64_t rows, std::int64_t columns) {
    check(api_.layout_create(to.out(), type, static_cast<std::uint64_t>(rows),
                             static_cast<std::uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate");
  }

  cublas::Status matmul(DeviceStream stream) {
    const float one = 1, zero = 0;
    return api_.matmul(handle_.get(), matmul_.get(), &one, buffers_.w(), w_layout_.get(),
                       buffers_.a(), a_layout_.get(), &zero, buffers_.d(), d_layout_.get(),
                       buffers_.d(), d_layout_.get(), &chosen_.algorithm, workspace_.get(),
                       static_cast<std::size_t>(workspace_.bytes()), stream);
  }

  // The first of the heuristics' answers that a launch accepts.
  void choose() {
    Owned preference(api_.preference_destroy);
    check(api_.preference_create(preference.out()), "cublasLtMatmulPreferenceCreate");
    const auto bytes = static_cast<std::size_t>(workspace_.bytes());
    check(api_.preference_set(preference.get(), cublas::kPreferenceWorkspaceBytes, &bytes,
                              sizeof bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    cublas::LtHeuristic answers[kAnswers];
    int found = 0;
    check(api_.heuristic(handle_.get(), matmul_.get(), w_layout_.get(), a_layout_.get(),
                         d_layout_.get(), d_layout_.get(), preference.get(), kAnswers, answers,
                         &found),
          "cublasLtMatmulAlgoGetHeuristic");
    for (int i = 0; i < found; ++i) {
      chosen_ = answers[i];
      if (matmul(nullptr) == cublas::kSuccess) return;
    }
    throw DeviceError("cuBLASLt: none of " + std::to_string(found) +
                      " algorithms takes this FP8 shape");
  }

  const cublas::Api& api_;
  GemmBuffers buffers_;
  DeviceMemory workspace_;
  Owned handle_, matmul_, w_layout_, a_layout_, d_layout_;
  cublas::LtHeuristic chosen_{};
};

class CublasGemmLive final : public LiveKernel {
 public:
  std::string name() const override { return "cublas_gemm"; }
  bool is_peer() const override { return true; }
  std::string unavailable() const override { return cublas::load().problem; }
  std::vector<Parameters> variants() const override { return {Parameters{}}; }
  std::vector<CompiledFunction> functions(const Parameters&) const override { return {}; }

  std::unique_ptr<LiveProblem> make_problem(const Parameters& parameters,
                                            std::uint64_t seed) const override {
    if (const auto problem = unavailable(); !problem.empty()) throw NotBuiltError(problem);
    const DenseGemmShape shape = gemm_shape(parameters);
    if (shape.dtype == DenseGemmDtype::fp8) return std::make_unique<Fp8Problem>(shape, seed);
    return std::make_unique<Bf16Problem>(shape, seed);
  }
};

}  // namespace

std::unique_ptr<LiveKernel> make_cublas_gemm_live() { return std::make_unique<CublasGemmLive>(); }

}  // namespace smtwin

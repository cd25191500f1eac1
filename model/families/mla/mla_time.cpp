// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/mla_time.hpp"

#include "arch/error.hpp"

namespace smtwin {

namespace {

// Where readings lie in a tick: each framework's collector adds its own constant. From the circular
// mean of SM120's rows below 60 us, and held.
constexpr double kSglangPhase = 0.10, kTrtllmPhase = 0.56, kVllmPhase = 0.37;

double phase_ticks(MlaLibrary library) {
  switch (library) {
    case MlaLibrary::sglang_flash_attention3:
    case MlaLibrary::sglang_triton:
      return kSglangPhase;
    case MlaLibrary::trtllm_flashmla:
    case MlaLibrary::trtllm_sm120:
      return kTrtllmPhase;
    case MlaLibrary::vllm_flash_attention3:
    case MlaLibrary::vllm_flashmla:
    case MlaLibrary::vllm_triton:
      break;
  }
  return kVllmPhase;
}

std::variant<HopperMla, TrtllmSm120Mla, TritonMla> make_kernel(const TimingGpu& gpu,
                                                               MlaFamily family, bool in_module,
                                                               MlaConstants& constants) {
  switch (family.provider) {
    case MlaLibrary::sglang_flash_attention3:
    case MlaLibrary::vllm_flash_attention3:
    case MlaLibrary::vllm_flashmla:
    case MlaLibrary::trtllm_flashmla:
      if (gpu.hopper()) return HopperMla(gpu, family, in_module, constants);
      throw DataError("latent attention on " + gpu.name +
                      ": FlashAttention 3 and FlashMLA run on Hopper (9.0) only; use the Triton "
                      "or TensorRT-LLM kernels");
    case MlaLibrary::trtllm_sm120:
      if (gpu.sm120()) return TrtllmSm120Mla(gpu, family, in_module, constants);
      throw DataError("latent attention on " + gpu.name +
                      ": this TensorRT-LLM kernel runs on SM120 only; use FlashMLA on Hopper");
    case MlaLibrary::sglang_triton:
    case MlaLibrary::vllm_triton:
      break;
  }
  return TritonMla(gpu, family, in_module, constants);
}

}  // namespace

MlaKernel::MlaKernel(const TimingGpu& gpu, MlaFamily family, bool in_module,
                     MlaConstants& constants)
    : kernel_(make_kernel(gpu, family, in_module, constants)) {}

MlaKernel::Work MlaKernel::work(const MlaShape& shape, double other_bytes) const {
  return std::visit([&](const auto& kernel) -> Work { return kernel.work(shape, other_bytes); },
                    kernel_);
}

MlaTime MlaKernel::time(const Work& work, std::span<const double> values, CacheState cache) const {
  if (const auto* hopper = std::get_if<HopperMla>(&kernel_)) {
    return hopper->time(std::get<HopperMla::Work>(work), values, cache);
  }
  if (const auto* triton = std::get_if<TritonMla>(&kernel_)) {
    return triton->time(std::get<TritonMla::Work>(work), values, cache);
  }
  return std::get<TrtllmSm120Mla>(kernel_).time(std::get<TrtllmSm120Mla::Work>(work), values,
                                                cache);
}

std::string choice_text(const MlaKernel::Work& work) {
  double splits = 1;
  if (const auto* hopper = std::get_if<HopperMla::Work>(&work)) splits = hopper->rounds.splits;
  if (const auto* triton = std::get_if<TritonMla::Work>(&work)) splits = triton->plan.splits;
  if (splits <= 1) return {};
  return std::to_string(static_cast<long long>(splits)) + " KV splits";
}

MlaTimeModel::MlaTimeModel(const TimingGpu& gpu, MlaFamily family)
    : gpu_(gpu),
      kernel_(gpu, family, false, constants_),
      phase_ticks_(phase_ticks(family.provider)) {}

double MlaTimeModel::seconds(const MlaShape& shape, std::span<const double> values,
                             CacheState cache) const {
  return kernel_.time(kernel_.work(shape, 0), values, cache).seconds;
}

TimeParts MlaTimeModel::parts(const MlaShape& shape, std::span<const double> values,
                              CacheState cache) const {
  const MlaKernel::Work work = kernel_.work(shape, 0);
  return to_parts(kernel_.time(work, values, cache), choice_text(work));
}

double MlaTimeModel::reading_s(double kernel_seconds) const {
  return mla_reading_s(kernel_seconds, gpu_, phase_ticks_);
}

}  // namespace smtwin

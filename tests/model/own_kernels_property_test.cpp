// SPDX-License-Identifier: Apache-2.0
// What must hold for every configuration of the kernels that we time with families of their own,
// with constants at their priors: no configuration has numbers of its own.
#include <map>
#include <string>
#include <vector>

#include "arch/gpu_catalog.hpp"
#include "kernels/descriptor.hpp"
#include "model/families/own_kernels/own_kernel_model.hpp"
#include "model/residency.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {

std::vector<double> priors(const OwnKernelModel& model) {
  std::vector<double> values;
  for (const ConstantSpec& s : model.constants()) values.push_back(s.prior);
  return values;
}

struct Timed {
  double seconds = 0;
  int resident = 0;
  LoopTime loop;
};

// Empty: does not fit.
std::optional<Timed> timed(const std::string& name, Parameters given, const GpuSpec& gpu,
                           L2State l2 = L2State::cold) {
  const KernelDescriptor& kernel = find_kernel(name);
  const Parameters parameters = complete_parameters(kernel, given);
  const KernelInstance instance = kernel.instantiate(parameters, gpu);
  Timed t;
  t.resident = resident_ctas(gpu.sm, instance.resources).ctas_per_sm;
  if (!instance.impossible.empty() || t.resident == 0) return std::nullopt;
  const auto model = own_kernel_model(own_kernel_family(kernel, parameters), gpu);
  const auto point = model->point(instance, parameters, l2);
  const std::vector<double> values = priors(*model);
  t.seconds = point->seconds(values);
  t.loop = point->loop(values);
  const TimeParts parts = point->parts(values);
  CHECK(parts.seconds == Approx(t.seconds));
  CHECK(t.seconds > 0);
  CHECK(t.loop.fixed_s + t.loop.loop_s == Approx(t.seconds));
  CHECK(t.loop.work_s / t.loop.warps * t.loop.fill == Approx(t.loop.loop_s));
  CHECK(t.loop.fill >= 1);
  return t;
}

const char* const kKernels[] = {"sparse_mla_decode", "dense_gemm", "sparse_decode_fieldnotes"};

// Every configuration of a kernel's space for a shape.
std::vector<Parameters> configs(const std::string& kernel, const Parameters& shape) {
  const KernelDescriptor& descriptor = find_kernel(kernel);
  std::vector<Parameters> space = config_space(descriptor, complete_parameters(descriptor, shape));
  if (kernel == "sparse_decode_fieldnotes") {
    for (Parameters& p : space) p["block_h"] = 16;
  }
  return space;
}

}  // namespace

TEST_CASE("faster memory and clocks never slow a kernel down", "[property]") {
  const GpuSpec h200 = find_gpu("h200-sxm");
  for (const char* kernel : kKernels) {
    for (const Parameters& p : configs(kernel, {})) {
      const auto base = timed(kernel, p, h200);
      if (!base) continue;
      GpuSpec more = h200;
      *more.dram_bytes_per_s *= 1.5;
      *more.l2_bytes_per_s *= 1.5;
      CHECK(timed(kernel, p, more)->seconds <= base->seconds * (1 + 1e-9));
      GpuSpec nearer = h200;
      *nearer.dram_latency_cycles *= 0.7;
      CHECK(timed(kernel, p, nearer)->seconds <= base->seconds * (1 + 1e-9));
      CHECK(timed(kernel, p, h200, L2State::warm)->seconds <= base->seconds * (1 + 1e-9));
    }
  }
}

TEST_CASE("more tokens are never faster", "[property]") {
  const GpuSpec h200 = find_gpu("h200-sxm");
  for (const char* kernel : {"sparse_mla_decode", "sparse_decode_fieldnotes"}) {
    for (const std::int64_t heads : {16, 64}) {
      for (Parameters p : configs(kernel, {{"heads", heads}})) {
        p["nsplit"] = 4;
        double before = 0;
        for (const std::int64_t batch : {1, 4, 16, 64, 256}) {
          p["batch"] = batch;
          const auto now = timed(kernel, p, h200);
          if (!now) break;
          CHECK(now->seconds >= before);
          before = now->seconds;
        }
        p["batch"] = 64;
        before = 0;
        for (const std::int64_t topk : {256, 512, 1024, 2048, 4096}) {
          p["topk"] = topk;
          const auto now = timed(kernel, p, h200);
          if (!now) break;
          CHECK(now->seconds >= before);
          before = now->seconds;
        }
      }
    }
  }
  for (Parameters p : configs("dense_gemm", {{"m", 1}, {"n", 8192}})) {
    double before = 0;
    for (const std::int64_t k : {2048, 4096, 8192, 16384, 32768}) {
      p["k"] = k;
      const auto now = timed("dense_gemm", p, h200);
      if (!now) break;
      CHECK(now->seconds >= before);
      before = now->seconds;
    }
  }
}

TEST_CASE("one stage is never faster than two where as many CTAs are resident", "[property]") {
  const GpuSpec h200 = find_gpu("h200-sxm");
  int compared = 0;
  for (const std::int64_t batch : {1, 8, 64, 128}) {
    for (Parameters p : configs("sparse_mla_decode", {{"batch", batch}, {"nsplit", 2}})) {
      if (p.at("num_stages") != 1) continue;
      const auto one = timed("sparse_mla_decode", p, h200);
      p["num_stages"] = 2;
      const auto two = timed("sparse_mla_decode", p, h200);
      if (!one || !two || one->resident != two->resident) continue;
      CHECK(one->seconds >= two->seconds);
      ++compared;
    }
  }
  CHECK(compared > 4);
}

TEST_CASE("the Triton decode gains from warps only where residency grows with them", "[unit]") {
  // H200: 255 registers leave room for eight warps either way, so eight-warp CTAs halve the tiles
  // in flight while each warp still converts all of its score columns. SM120: 61,568 B leave room
  // for one CTA either way, so eight warps hide what four cannot.
  const Parameters four{{"batch", 64}, {"block_h", 16}, {"num_warps", 4}};
  const Parameters eight{{"batch", 64}, {"block_h", 16}, {"num_warps", 8}};
  const char* kernel = "sparse_decode_fieldnotes";
  const GpuSpec h200 = find_gpu("h200-sxm"), rtx = find_gpu("rtx-pro-6000-server");
  const auto h4 = timed(kernel, four, h200), h8 = timed(kernel, eight, h200);
  CHECK(h8->seconds > 1.4 * h4->seconds);
  const LoopChange on_h200 = loop_change(h4->loop, h8->loop);
  CHECK(on_h200.warps_ratio == Approx(1));
  CHECK(describe(on_h200).starts_with("the work of the warps decides"));
  const auto r4 = timed(kernel, four, rtx), r8 = timed(kernel, eight, rtx);
  CHECK(r8->seconds < 0.95 * r4->seconds);
  CHECK(describe(loop_change(r4->loop, r8->loop)).starts_with("latency hiding"));
}

TEST_CASE("families have at most 14 constants, each with unit, meaning and bounds", "[unit]") {
  const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  for (const char* name : kKernels) {
    const KernelDescriptor& kernel = find_kernel(name);
    const Parameters parameters = complete_parameters(kernel, {});
    const OwnKernelFamily family = own_kernel_family(kernel, parameters);
    CHECK(descriptor_of_run_kernel(family.kernel) == &kernel);
    const auto model = own_kernel_model(family, gpu);
    CHECK(model->constants().size() <= 14);
    for (const ConstantSpec& s : model->constants()) {
      INFO(name << " " << s.name);
      CHECK_FALSE(s.unit.empty());
      CHECK_FALSE(s.meaning.empty());
      CHECK(s.low < s.prior);
      CHECK(s.prior < s.high);
    }
  }
  CHECK(own_kernel_family(find_kernel("triton_gemm"), {}).kernel.empty());
  CHECK(descriptor_of_run_kernel("cublas_gemm") == nullptr);
}

// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kWarmEvery = 8;  // shapes between those that are also measured warm

struct Axes {
  std::vector<std::int64_t> heads, topk, batch;
};

void add_sparse(std::vector<Parameters>& shapes, const KernelDescriptor& kernel, const Axes& axes) {
  for (const std::int64_t batch : axes.batch) {
    for (const std::int64_t topk : axes.topk) {
      for (const std::int64_t heads : axes.heads) {
        shapes.push_back({{"heads", heads}, {"topk", topk}, {"batch", batch}});
      }
    }
  }
  for (Parameters& shape : shapes) shape = complete_parameters(kernel, shape);
}

// What a result must survive: heads and tokens that fill no tile, pages of two, -1 among the
// selected, requests of any length or none, scales thousands of times apart, one request and many.
// The small ones first: a sanitizer that is slow sees as many as its time box lets it.
void add_odd_sparse(std::vector<Parameters>& shapes, const KernelDescriptor& kernel) {
  struct Odd {
    std::int64_t heads, topk, batch, page_size, context, holes, ragged, wide_scales;
  };
  constexpr Odd kOdd[] = {
      {1, 1, 1, 64, 64, 0, 0, 0},       {7, 77, 5, 2, 100, 10, 1, 0},
      {40, 300, 4, 64, 512, 20, 1, 0},  {128, 257, 2, 64, 512, 2, 0, 1},
      {64, 1000, 2, 16, 2000, 3, 1, 1}, {16, 512, 256, 64, 512, 10, 1, 0},
  };
  for (const Odd& odd : kOdd) {
    shapes.push_back(complete_parameters(kernel, {{"heads", odd.heads},
                                                  {"topk", odd.topk},
                                                  {"batch", odd.batch},
                                                  {"page_size", odd.page_size},
                                                  {"context", odd.context},
                                                  {"holes", odd.holes},
                                                  {"ragged", odd.ragged},
                                                  {"wide_scales", odd.wide_scales}}));
  }
}

// Batch by batch from the sizes whose bars are judged, then the rest of the sweep, then heads and
// lengths in between.
std::vector<Parameters> sparse_mla_decode_sweep(const KernelDescriptor& kernel, Effort effort) {
  std::vector<Parameters> shapes;
  if (effort == Effort::check) {
    add_sparse(shapes, kernel, {{16}, {128}, {2}});
    add_sparse(shapes, kernel, {{64}, {200}, {3}});
    add_odd_sparse(shapes, kernel);
    return shapes;
  }
  if (effort == Effort::quick) {
    add_sparse(shapes, kernel, {{16, 64}, {512, 2048}, {64, 1, 16}});
    return shapes;
  }
  add_sparse(shapes, kernel, {{16, 64}, {512, 2048}, {64, 128, 1, 8, 32, 16, 4, 2, 96}});
  add_sparse(shapes, kernel, {{32, 128}, {2048}, {64, 1, 16}});
  add_sparse(shapes, kernel, {{16, 64}, {1024}, {8, 32, 128}});
  add_sparse(shapes, kernel, {{16, 64}, {512}, {256}});
  add_sparse(shapes, kernel, {{32, 128}, {512}, {8, 128}});
  return shapes;
}

struct Matrix {
  std::int64_t n, k;
};

// Weight matrices of decode layers: DeepSeek's down- and up-projections, Llama 8B and 70B, square
// ones; in bf16 between 8 MB and 268 MB.
constexpr Matrix kMatrices[] = {{8192, 8192},  {7168, 16384}, {24576, 1536}, {4096, 4096},
                                {28672, 4096}, {2112, 7168},  {6144, 4096},  {16384, 8192},
                                {7168, 2048},  {4096, 14336}, {2048, 2048},  {10240, 8192}};
constexpr std::size_t kQuickMatrices = 3;

std::vector<Parameters> dense_gemm_sweep(const KernelDescriptor& kernel, Effort effort) {
  std::size_t dtypes = 1;
  for (const ParameterSpec& spec : kernel.parameters()) {
    if (spec.name == "dtype") dtypes = std::max<std::size_t>(1, spec.choices.size());
  }
  std::vector<std::int64_t> rows = {16, 1, 64};
  std::vector<Matrix> matrices(std::begin(kMatrices), std::end(kMatrices));
  if (effort == Effort::quick) matrices.resize(kQuickMatrices);
  if (effort == Effort::full) rows.insert(rows.end(), {8, 32, 4, 2});
  if (effort == Effort::check) {
    rows = {3, 33, 1, 256};
    matrices = {{656, 1168}};  // no multiple of a tile
  }
  std::vector<Parameters> shapes;
  for (const Matrix& matrix : matrices) {
    for (const std::int64_t m : rows) {
      for (std::size_t dtype = 0; dtype < dtypes; ++dtype) {
        shapes.push_back(
            complete_parameters(kernel, {{"m", m},
                                         {"n", matrix.n},
                                         {"k", matrix.k},
                                         {"dtype", static_cast<std::int64_t>(dtype)}}));
      }
    }
  }
  return shapes;
}

// Parameters that a shape is made of; the others are the config's or the target's.
Parameters shape_part(const KernelDescriptor& kernel, const Parameters& parameters) {
  Parameters shape;
  for (const ParameterSpec& spec : kernel.parameters()) {
    if (spec.role == ParameterRole::shape) shape[spec.name] = parameters.at(spec.name);
  }
  return shape;
}

}  // namespace

std::string kernel_beside(const std::string& name) {
  return name.find("gemm") != std::string::npos ? "dense_gemm" : name;
}

std::vector<Parameters> sweep_of(const std::string& name, Effort effort) {
  const KernelDescriptor& kernel = find_kernel(name);
  std::vector<Parameters> shapes;
  if (kernel.name() == "sparse_mla_decode") {
    shapes = sparse_mla_decode_sweep(kernel, effort);
  } else if (kernel.name() == "dense_gemm") {
    shapes = dense_gemm_sweep(kernel, effort);
  } else {
    shapes = {complete_parameters(kernel, {})};
  }
  for (Parameters& shape : shapes) shape = shape_part(kernel, shape);
  return shapes;
}

bool can_run(const std::string& name, const Parameters& shape, const Parameters& config,
             const GpuSpec& gpu) {
  for (const auto& kernel : kernel_registry()) {
    if (kernel->name() != name) continue;
    Parameters given = shape;
    given.insert(config.begin(), config.end());
    return kernel->instantiate(complete_parameters(*kernel, given), gpu).impossible.empty();
  }
  return true;
}

std::vector<PlannedShape> plan_run(const std::vector<MeasurableKernel>& kernels, Effort effort,
                                   const std::string& only) {
  std::map<std::string, std::vector<const MeasurableKernel*>> beside;
  std::vector<std::string> names;
  for (const MeasurableKernel& kernel : kernels) {
    if (!kernel.peer) names.push_back(kernel.name);
    if (kernel.peer && effort == Effort::check) continue;
    if (kernel.unavailable.empty()) beside[kernel_beside(kernel.name)].push_back(&kernel);
  }
  if (!only.empty()) {
    const auto known = std::find(names.begin(), names.end(), find_kernel(only).name());
    if (known == names.end()) {
      std::string list;
      for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
      throw UsageError("--kernel " + only + ": not a kernel that runs; use " + list);
    }
    names = {*known};
  }
  std::vector<std::vector<Parameters>> sweeps;
  std::size_t longest = 0;
  for (const std::string& name : names) {
    sweeps.push_back(sweep_of(name, effort));
    longest = std::max(longest, sweeps.back().size());
  }
  // In proportion: each kernel is half done when the run is.
  std::vector<PlannedShape> plan;
  std::vector<std::size_t> done(names.size(), 0);
  for (std::size_t step = 1; step <= longest; ++step) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::size_t due = (sweeps[k].size() * step + longest - 1) / longest;
      for (; done[k] < due; ++done[k]) {
        for (const MeasurableKernel* kernel : beside[names[k]]) {
          plan.push_back({.kernel = kernel->name,
                          .peer = kernel->peer,
                          .shape = sweeps[k][done[k]],
                          .warm_too = done[k] % kWarmEvery == 0});
        }
      }
    }
  }
  return plan;
}

}  // namespace smtwin

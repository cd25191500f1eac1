// SPDX-License-Identifier: Apache-2.0
// A kernel as the twin sees it, without CUDA: which parameters it has, and, for one choice of
// them on one chip, the bytes and threads of a CTA, the grid, and the work each CTA does. All of
// it follows from shapes; registers come from a compiled table or are marked as an estimate.
//
// Parameters are integers with names. A parameter with `choices` is an enumeration: its value is
// the index into them ("dtype" with {"bf16", "fp8"}). Roles say who sets a parameter:
//   shape   the problem (m, n, k, heads, batch, topk ...)
//   config  what a tuner varies (block_m, num_warps, num_stages ...)
//   target  the compiler and library (triton_version, epilogue ...)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "arch/provenance.hpp"
#include "kernels/kernel_resources.hpp"

namespace smtwin {

enum class ParameterRole { shape, config, target };

struct ParameterSpec {
  std::string name;     // snake_case, as in --set name=value
  std::string meaning;  // one line, with the unit
  ParameterRole role = ParameterRole::shape;
  std::int64_t default_value = 0;
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::vector<std::string> choices;      // enumeration names; empty = a number
  std::vector<std::int64_t> candidates;  // values of the config space; empty = not varied
  std::string short_name;                // in compact configs: "BT" for BT16/w4/s2; may be empty
};

using Parameters = std::map<std::string, std::int64_t>;

// Which pipe the multiply-adds of a kernel run on.
enum class MathPipe { none, fp32, tf32, bf16, fp8, int8, mxfp8, nvfp4 };
std::string to_string(MathPipe pipe);

// Work of one CTA, totals over its lifetime. Bytes are what the CTA itself asks for: a tile that
// two CTAs load counts in both (that traffic the L2 serves); KernelInstance::unique_* say what
// DRAM must deliver once.
struct CtaWork {
  double global_read_bytes = 0;
  double global_write_bytes = 0;
  double shared_bytes = 0;       // shared-memory traffic, reads + writes
  double math_flops = 0;         // issued, padded tiles and repeated work included
  double fp32_flops = 0;         // on the ordinary pipe: dequantization, softmax, scaling
  double sfu_ops = 0;            // exponentials, reciprocals
  double warp_instructions = 0;  // issued by all warps; 0 = not counted
  // Pipeline: `steps` dependent iterations, each waiting for `step_read_bytes`; up to
  // `loads_in_flight` of them are outstanding while one computes (num_stages - 1). 0 = one stage:
  // a step loads, then computes, and nothing overlaps.
  double steps = 1;
  double step_read_bytes = 0;
  double loads_in_flight = 1;
};

// A named intermediate value worth showing: head groups, splits, waves of the grid.
struct Fact {
  std::string name;  // snake_case
  double value = 0;
  std::string unit;     // "" for a count
  std::string meaning;  // one line
};

struct Grid {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
  std::string formula;  // "batch x groups x splits", as text with the values: "64 x 2 x 2"
  std::int64_t ctas() const { return x * y * z; }
};

// One configuration on one shape on one chip.
struct KernelInstance {
  std::string kernel;
  std::string config;  // compact: "BT16/w4/s2"
  KernelResources resources;
  Provenance shared_provenance = Provenance::assumed;
  Provenance registers_provenance = Provenance::assumed;
  std::string shared_formula;  // the bytes, worked: "1152 x 16 + 1348 x 2 x 16 = 61,568"
  std::string registers_source;
  Grid grid;
  CtaWork work;  // of one CTA
  MathPipe pipe = MathPipe::none;
  double useful_flops = 0;       // of the whole kernel, without padding or repeats
  double unique_read_bytes = 0;  // of the whole kernel: each byte once
  double unique_write_bytes = 0;
  std::vector<Fact> facts;
  std::vector<std::string> assumptions;  // each a sentence
  // Of the whole kernel, with what CTAs ask for twice and what padding issues.
  double requested_read_bytes() const {
    return work.global_read_bytes * static_cast<double>(grid.ctas());
  }
  double issued_math_flops() const { return work.math_flops * static_cast<double>(grid.ctas()); }
  std::string impossible;  // why the configuration cannot exist on this chip; empty = it can
};

class KernelDescriptor {
 public:
  virtual ~KernelDescriptor() = default;
  virtual std::string name() const = 0;                  // "triton_gemm"
  virtual std::string summary() const = 0;               // one line
  virtual std::vector<std::string> sources() const = 0;  // of its formulas
  virtual std::vector<ParameterSpec> parameters() const = 0;

  // `parameters` must be complete (see complete_parameters). Pure; never throws for a config that
  // merely does not fit. UsageError for a value no launch could mean.
  virtual KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const = 0;

  // The config parameters, splits included, that run where nobody chose any for this shape. Empty:
  // the kernel has no rule of its own beside the defaults of its parameters.
  virtual Parameters default_config(const Parameters& /*shape*/, const GpuSpec& /*gpu*/) const {
    return {};
  }

  // The config parameters in the short form a user would type: "BT16/w4/s2". Parameters that no
  // tuner varies appear only where they differ from their default.
  virtual std::string compact_config(const Parameters& parameters) const;
  // One word of a compact config in the kernel's own notation ("128x128x256B" for a CUTLASS tile);
  // empty = not a word of this kernel.
  virtual Parameters parse_config_word(const std::string& word) const;
};

// All descriptors, in a fixed order.
const std::vector<std::unique_ptr<KernelDescriptor>>& kernel_registry();

// By name ('-' and '_' alike, an "external/" prefix ignored). UsageError that lists the names.
const KernelDescriptor& find_kernel(const std::string& name);

// Defaults filled in, names and ranges checked: UsageError names the parameter, what was found and
// what is allowed.
Parameters complete_parameters(const KernelDescriptor& kernel, const Parameters& given);

// The same, with the kernel's own choice for this shape and GPU where `given` names no value.
Parameters launch_parameters(const KernelDescriptor& kernel, const Parameters& given,
                             const GpuSpec& gpu);

// "block_t=16" or "dtype=fp8" -> the parameter's value. UsageError lists what is accepted.
std::int64_t parse_parameter(const ParameterSpec& spec, const std::string& text);
std::string format_parameter(const ParameterSpec& spec, std::int64_t value);

// "BT16/w4/s2" or "block_t=16,num_warps=4": the named parameters set. Short names of the kernel's
// parameters are used, w = num_warps and s = num_stages. UsageError shows an example.
Parameters parse_compact_config(const KernelDescriptor& kernel, const std::string& text);

// Every combination of the candidates of the config parameters, others as in `base`.
std::vector<Parameters> config_space(const KernelDescriptor& kernel, const Parameters& base);

}  // namespace smtwin

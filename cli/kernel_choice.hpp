// SPDX-License-Identifier: Apache-2.0
// --kernel, --config and the kernel's own parameters as flags ("--heads 16") or --set: which
// kernel, and which of its parameters were given.
#pragma once

#include <string>
#include <vector>

#include "cli/settings.hpp"
#include "cli/verb.hpp"
#include "kernels/descriptor.hpp"
#include "model/residency.hpp"

namespace smtwin {

struct KernelChoice {
  const KernelDescriptor* kernel = nullptr;
  Parameters given;  // flags and --config; --set is still in `settings`
  RoutedSettings settings;
};

// `config` is a compact configuration ("BT16/w4/s2") or "". UsageError when `name` is empty or a
// flag is no parameter of the kernel.
KernelChoice choose_kernel(const std::string& name, const std::string& config,
                           const VerbInput& input);

// The parameter of that name ('-' and '_' alike), or null.
const ParameterSpec* find_parameter(const std::vector<ParameterSpec>& parameters,
                                    const std::string& name);

// `given` with every kernel setting applied; each must have one value.
Parameters with_settings(const KernelChoice& choice);

// "heads=16, topk=512": parameters of one role, in the kernel's order.
std::string describe_parameters(const KernelDescriptor& kernel, const Parameters& parameters,
                                ParameterRole role);

std::string label(Limiter limiter);             // "shared memory", "CTA slots"
std::string label(const LimiterSet& limiters);  // "shared memory + registers"

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "cli/whatif_answer.hpp"

#include <algorithm>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kMostPoints = 64;  // a table nobody reads; sweeps belong in a script

// One thing that a point sets: a GPU, a kernel parameter or a GPU field.
struct Change {
  enum class Of { gpu_name, kernel, gpu_field } of = Of::kernel;
  std::string path;
  std::string value;
};
using Changes = std::vector<Change>;

struct Axis {
  Change::Of of;
  std::string path;
  std::vector<std::string> values;
};

std::vector<Axis> axes_of(const KernelChoice& choice, const std::vector<std::string>& gpus) {
  std::vector<Axis> axes;
  if (gpus.size() > 1) axes.push_back({Change::Of::gpu_name, "gpu", gpus});
  for (const Setting& s : choice.settings.kernel) {
    axes.push_back({Change::Of::kernel, s.path, s.values});
  }
  for (const Setting& s : choice.settings.gpu) {
    axes.push_back({Change::Of::gpu_field, s.path, s.values});
  }
  return axes;
}

// Every combination, the first axis slowest.
std::vector<Changes> combinations(const std::vector<Axis>& axes) {
  std::vector<Changes> all{{}};
  for (const Axis& axis : axes) {
    if (all.size() * axis.values.size() > kMostPoints) {
      throw UsageError("whatif compares at most " + std::to_string(kMostPoints) +
                       " combinations; leave out some values of --set");
    }
    std::vector<Changes> wider;
    for (const Changes& point : all) {
      for (const std::string& value : axis.values) {
        wider.push_back(point);
        wider.back().push_back({axis.of, axis.path, value});
      }
    }
    all = std::move(wider);
  }
  return all;
}

std::string label_of(const Changes& changes) {
  std::vector<std::string> words;
  for (const Change& c : changes) {
    words.push_back(c.of == Change::Of::gpu_name ? c.value : c.path + '=' + c.value);
  }
  return words.empty() ? "base" : join(words, ", ");
}

WhatifPoint make_point(const KernelChoice& choice, const std::string& gpu, const Changes& held,
                       const Changes& varied, const std::string& profile, KernelOptions& options) {
  std::string gpu_name = gpu;
  Parameters parameters = choice.given;
  std::vector<std::string> gpu_settings;
  const std::vector<ParameterSpec> known = choice.kernel->parameters();
  for (const Changes* changes : {&held, &varied}) {
    for (const Change& c : *changes) {
      if (c.of == Change::Of::gpu_name) {
        gpu_name = c.value;
      } else if (c.of == Change::Of::gpu_field) {
        gpu_settings.push_back(c.path + '=' + c.value);
      } else {
        parameters[c.path] = parse_parameter(*find_parameter(known, c.path), c.value);
      }
    }
  }
  WhatifPoint point;
  point.label = label_of(varied);
  point.gpu = choose_gpu(gpu_name, gpu_settings);
  use_profile(profile, point.gpu, options);
  point.run = run_kernel(*choice.kernel, parameters, point.gpu.gpu, options);
  return point;
}

}  // namespace

WhatifAnswer answer_whatif(const KernelChoice& choice, const std::vector<std::string>& gpus,
                           const KernelOptions& options, const std::string& profile) {
  const std::vector<Axis> axes = axes_of(choice, gpus);
  const bool sweeps = std::any_of(axes.begin(), axes.end(),
                                  [](const Axis& axis) { return axis.values.size() > 1; });
  WhatifAnswer answer{.kernel = choice.kernel, .options = options, .points = {}};
  const std::string gpu = gpus.front();
  if (sweeps) {
    std::vector<Axis> varied;
    Changes held;
    for (const Axis& axis : axes) {
      if (axis.values.size() > 1) {
        varied.push_back(axis);
      } else {
        held.push_back({axis.of, axis.path, axis.values.front()});
      }
    }
    for (const Changes& changes : combinations(varied)) {
      answer.points.push_back(make_point(choice, gpu, held, changes, profile, answer.options));
    }
  } else {
    if (axes.empty()) {
      throw UsageError(
          "nothing to compare: give --set key=value (against the base), --set "
          "key=v1,v2, or --gpu A,B");
    }
    Changes changed;
    for (const Axis& axis : axes) changed.push_back({axis.of, axis.path, axis.values.front()});
    answer.points.push_back(make_point(choice, gpu, {}, {}, profile, answer.options));
    answer.points.push_back(make_point(choice, gpu, {}, changed, profile, answer.options));
  }
  const KernelRun& base = answer.points.front().run;
  for (std::size_t i = 1; i < answer.points.size(); ++i) {
    WhatifPoint& point = answer.points[i];
    if (!base.time || !point.run.time) continue;
    point.against_base = compare(*base.time, *point.run.time);
    if (base.fitted && point.run.fitted) {
      point.against_base.sentence +=
          "; " + describe(loop_change(base.fitted->loop, point.run.fitted->loop));
    }
  }
  return answer;
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "cli/fit_answer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kAlsoFitShown = 6;
constexpr double kTellsApart = 0.01;  // times closer than this are one rank

// Steps between two configurations: each doubling of a parameter is one.
double distance(const KernelDescriptor& kernel, const Parameters& a, const Parameters& b) {
  double total = 0;
  for (const ParameterSpec& p : kernel.parameters()) {
    if (p.role != ParameterRole::config || a.at(p.name) == b.at(p.name)) continue;
    // 0 means "chosen by a rule": as far as one doubling from anything else.
    const bool by_rule = a.at(p.name) == 0 || b.at(p.name) == 0;
    total += by_rule ? 1
                     : std::abs(std::log2(static_cast<double>(a.at(p.name)) /
                                          static_cast<double>(b.at(p.name))));
  }
  return total;
}

double seconds_or_infinity(const KernelRun& run) {
  return run.has_time() ? run.time->seconds : std::numeric_limits<double>::infinity();
}

// Ranks the entries that fit by predicted time and marks the one that would be picked.
void rank_and_pick(FitAnswer& answer) {
  std::vector<FitEntry*> fitting;
  for (FitEntry& entry : answer.entries) {
    if (entry.run.fits()) fitting.push_back(&entry);
    if (answer.no_time_because.empty()) answer.no_time_because = entry.run.no_time_because;
  }
  answer.fitting = fitting.size();
  const std::string who = answer.from_list ? "by the autotuner: " : "";
  if (fitting.size() == 1) {
    fitting.front()->picked = true;
    fitting.front()->picked_because =
        who + (answer.entries.size() == 1 ? "the only entry" : "the only entry that fits");
  }
  std::erase_if(fitting, [](const FitEntry* e) { return !e->run.has_time(); });
  if (fitting.empty()) return;
  // Among equal times the one that takes fewer bytes first, then list order.
  std::stable_sort(fitting.begin(), fitting.end(), [](const FitEntry* a, const FitEntry* b) {
    const auto key = [](const FitEntry* e) {
      return std::pair(e->run.time->seconds, e->run.residency.shared_bytes_requested);
    };
    return key(a) < key(b);
  });
  FitEntry& fastest = *fitting.front();
  std::int64_t ties = 0;
  for (std::size_t i = 0; i < fitting.size(); ++i) {
    // What the model cannot tell from the fastest shares its rank.
    const bool tie = fitting[i]->run.time->seconds <= fastest.run.time->seconds * (1 + kTellsApart);
    fitting[i]->rank = tie ? 1 : static_cast<int>(i) + 1;
    ties += tie ? 1 : 0;
  }
  if (fastest.picked) return;
  fastest.picked = true;
  fastest.picked_because = who + "the fastest predicted of " +
                           format_count(static_cast<std::int64_t>(answer.fitting)) + " that fit";
  if (ties > 1) {
    fastest.picked_because += "; " + format_count(ties) + " of them are within " +
                              format_percent(kTellsApart) +
                              " of it, closer than this model can tell apart";
  }
}

void say_what_was_compared(FitAnswer& answer) {
  const std::size_t listed = answer.entries.size();
  const std::size_t pruned = listed - answer.fitting;
  const std::string of_listed = format_count(static_cast<std::int64_t>(pruned)) + " of " +
                                format_count(static_cast<std::int64_t>(listed)) + " entries ";
  const std::string silently = of_listed +
                               (pruned == 1 ? "does not fit and is" : "do not fit and are") +
                               " silently given infinite time";
  if (!answer.from_list) return;
  if (listed == 1) {
    answer.sentences.push_back(
        answer.fitting == 1
            ? "one entry: an autotuner with a single configuration does not benchmark at all"
            : "the only entry does not fit: the launch fails");
  } else if (answer.fitting == 0) {
    answer.sentences.push_back("no entry fits: whatever the autotuner picks, the launch fails");
  } else if (answer.fitting == 1) {
    answer.sentences.push_back("the autotuner never compared anything: " + silently);
  } else if (pruned > 0) {
    answer.sentences.push_back(silently + "; the autotuner compares the other " +
                               format_count(static_cast<std::int64_t>(answer.fitting)));
  }
}

void find_also_fit(FitAnswer& answer, const std::vector<KernelRun>& space) {
  struct Near {
    double distance;
    const KernelRun* run;
  };
  std::vector<Near> near;
  for (const KernelRun& run : space) {
    if (!run.fits()) continue;
    double least = std::numeric_limits<double>::infinity();
    for (const FitEntry& entry : answer.entries) {
      least = std::min(least, distance(*answer.kernel, run.parameters, entry.run.parameters));
    }
    if (least > 0) near.push_back({least, &run});
  }
  std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return seconds_or_infinity(*a.run) < seconds_or_infinity(*b.run);
  });
  near.resize(std::min(near.size(), kAlsoFitShown));
  for (const Near& n : near) answer.also_fit.push_back(*n.run);
}

}  // namespace

FitAnswer answer_fit(const KernelDescriptor& kernel, const GpuChoice& gpu, const Parameters& base,
                     const std::vector<std::string>& list, const KernelOptions& options) {
  FitAnswer answer;
  answer.kernel = &kernel;
  answer.gpu = gpu;
  answer.options = options;
  answer.shapes = complete_parameters(kernel, base);
  answer.from_list = !list.empty();

  std::vector<KernelRun> space;
  for (const Parameters& point : config_space(kernel, base)) {
    space.push_back(run_kernel(kernel, point, gpu.gpu, options));
  }
  for (const std::string& text : list) {
    Parameters parameters = base;
    for (const auto& [name, value] : parse_compact_config(kernel, text)) parameters[name] = value;
    answer.entries.push_back({.run = run_kernel(kernel, parameters, gpu.gpu, options)});
  }
  if (!answer.from_list) {
    for (const KernelRun& run : space) answer.entries.push_back({.run = run});
  }
  rank_and_pick(answer);
  say_what_was_compared(answer);
  if (answer.from_list) {
    find_also_fit(answer, space);
  } else {
    std::stable_sort(
        answer.entries.begin(), answer.entries.end(), [](const FitEntry& a, const FitEntry& b) {
          if (a.run.fits() != b.run.fits()) return a.run.fits();
          if (a.rank != b.rank) return a.rank < b.rank;
          return a.run.residency.shared_bytes_over_limit < b.run.residency.shared_bytes_over_limit;
        });
  }
  return answer;
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// The fit report for people: one line a configuration, what was pruned and by how many bytes, and
// what would fit as well.
#include <algorithm>
#include <ostream>

#include "cli/fit_answer.hpp"
#include "cli/kernel_choice.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kMostShown = 20;

std::string also_text(const KernelRun& run) {
  const KernelInstance& k = run.instance;
  std::string text = k.config + " (" + format_bytes(run.residency.shared_bytes_requested) + ", " +
                     std::string(to_string(k.shared_provenance)) + ", " +
                     format_percent(run.residency.theoretical_occupancy);
  if (run.has_time()) text += ", " + format_time(run.time->seconds);
  return text + ")";
}

// What every entry has in common and no column shows: head groups, splits, the tile by rule.
void print_common_facts(std::ostream& out, const FitAnswer& a) {
  std::vector<std::string> words;
  for (const Fact& fact : a.entries.front().run.instance.facts) {
    const bool common = std::all_of(a.entries.begin(), a.entries.end(), [&](const FitEntry& e) {
      const std::vector<Fact>& facts = e.run.instance.facts;
      return std::any_of(facts.begin(), facts.end(), [&](const Fact& f) {
        return f.name == fact.name && f.value == fact.value;
      });
    });
    if (common) words.push_back(fact.name + ' ' + format_quantity(fact.value, fact.unit));
  }
  if (!words.empty()) print_wrapped(out, "all entries", join(words, ", "));
}

void print_entries(std::ostream& out, const FitAnswer& a, std::size_t shown) {
  TextTable table({{"config", Align::left},
                   {"shared B"},
                   {"fits", Align::left},
                   {"CTAs"},
                   {"warps"},
                   {"predicted"},
                   {"rank"},
                   {"limited by", Align::left}});
  for (std::size_t i = 0; i < shown; ++i) {
    const FitEntry& entry = a.entries[i];
    const Residency& r = entry.run.residency;
    const bool fits = entry.run.fits();
    table.add_row({entry.run.instance.config + (entry.picked ? " *" : ""),
                   format_count(r.shared_bytes_requested), describe_fit(entry.run),
                   fits ? format_count(r.ctas_per_sm) : "-",
                   fits ? format_percent(r.theoretical_occupancy) : "-",
                   entry.run.has_time() ? format_time(entry.run.time->seconds) : "-",
                   entry.rank > 0 ? format_count(entry.rank) : "-",
                   entry.run.instance.impossible.empty() ? label(r.limiters) : "-"});
  }
  table.print(out);
}

// Reasons other than bytes, once each: "no, registers" alone does not say which way out.
void print_reasons(std::ostream& out, const FitAnswer& a, std::size_t shown) {
  std::vector<std::string> said;
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelRun& run = a.entries[i].run;
    if (run.fits() || run.residency.shared_bytes_over_limit > 0) continue;
    const std::string reason = describe_refusal(run, a.gpu.gpu);
    if (std::find(said.begin(), said.end(), reason) != said.end()) continue;
    said.push_back(reason);
    print_wrapped(out, run.instance.config, reason);
  }
}

void print_remainder(std::ostream& out, const FitAnswer& a, std::size_t shown) {
  const std::size_t pruned = a.entries.size() - a.fitting;
  std::string text = format_count(static_cast<std::int64_t>(a.fitting)) + " of " +
                     format_count(static_cast<std::int64_t>(a.entries.size())) +
                     " configurations fit";
  if (pruned > 0) text += ", " + format_count(static_cast<std::int64_t>(pruned)) + " do not";
  const auto nearest = std::find_if(a.entries.begin(), a.entries.end(), [](const FitEntry& e) {
    return !e.run.fits() && e.run.residency.shared_bytes_over_limit > 0;
  });
  if (nearest != a.entries.end()) {
    text += " (nearest miss: " + nearest->run.instance.config + ", " +
            format_bytes(nearest->run.residency.shared_bytes_over_limit) + " over)";
  }
  if (shown < a.entries.size()) {
    text += "; " + format_count(static_cast<std::int64_t>(shown)) + " shown, --all shows the rest";
  }
  print_wrapped(out, "space", text);
}

}  // namespace

void print_fit(std::ostream& out, const FitAnswer& a) {
  const GpuSpec& gpu = a.gpu.gpu;
  print_wrapped(out, a.kernel->name(),
                describe_parameters(*a.kernel, a.shapes, ParameterRole::shape) + " on " +
                    gpu.display_name + ", " + architecture_name(gpu.compute_capability) + ", " +
                    format_bytes(gpu.sm.shared_bytes_per_cta_optin) + " a CTA");
  const std::size_t shown =
      a.from_list || a.show_all
          ? a.entries.size()
          : std::min({kMostShown, a.entries.size(), std::max<std::size_t>(a.fitting, 1)});
  print_common_facts(out, a);
  print_entries(out, a, shown);
  for (const FitEntry& entry : a.entries) {
    if (entry.picked) print_wrapped(out, "* picked", entry.picked_because);
  }
  print_reasons(out, a, shown);
  for (const std::string& sentence : a.sentences) print_wrapped(out, "", sentence, 0);
  if (!a.from_list) print_remainder(out, a, shown);
  if (!a.also_fit.empty()) {
    std::vector<std::string> texts;
    for (const KernelRun& run : a.also_fit) texts.push_back(also_text(run));
    print_wrapped(out, "also fit", join(texts, ", "));
  }
  if (!a.no_time_because.empty()) {
    print_wrapped(out, "no times", a.no_time_because);
  } else if (a.fitting > 0) {
    Provenance weakest = Provenance::datasheet;
    for (const FitEntry& entry : a.entries) {
      if (entry.run.has_time()) weakest = weaker(weakest, entry.run.time->provenance);
    }
    print_wrapped(out, "predicted",
                  describe(a.options) + "; " +
                      describe_intervals(a.options, a.entries.front().run) +
                      "; weakest input: " + std::string(to_string(weakest)));
  }
  print_overrides(out, a.gpu.context.overrides);
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "model/time_comparison.hpp"

#include <algorithm>
#include <cmath>

#include "model/quantity_text.hpp"

namespace smtwin {
namespace {

// Share of a change in time from which on the change of one bound explains it.
constexpr double kExplains = 0.5;
// Share of the whole time below which a gain is not worth a word.
constexpr double kNotable = 0.05;
// Below this two predictions are called equal: far finer than any of the model's constants.
constexpr double kSameWithin = 0.005;

bool same(double before, double after) {
  return std::abs(after - before) <= kSameWithin * std::max(std::abs(before), std::abs(after));
}

double seconds_of(const KernelTime& t, Bound bound) {
  for (const BoundTime& b : t.bounds) {
    if (b.bound == bound) return b.seconds;
  }
  return 0;
}

std::string label(Bound bound) {
  switch (bound) {
    case Bound::shared_memory:
      return "shared memory";
    case Bound::tensor:
      return "tensor work";
    case Bound::fp32:
      return "FP32 work";
    case Bound::sfu:
      return "special-function work";
    case Bound::issue:
      return "instruction issue";
    case Bound::l2:
      return "L2 traffic";
    case Bound::dram:
      return "DRAM traffic";
    case Bound::latency:
      return "waiting for loads";
    case Bound::launch:
      return "the launch";
  }
  return "";
}

std::string from_to(double before, double after, std::string_view unit) {
  return concat({quantity_text(before, unit), " -> ", quantity_text(after, unit)});
}

std::string headline(double ratio) {
  if (same(ratio, 1)) return "the same time";
  return ratio > 1 ? concat({count_text(ratio), " times slower"})
                   : concat({count_text(1 / ratio), " times faster"});
}

// What decides: the binding bound, and where it came from when it was another one.
std::string decision(const TimeComparison& c, const KernelTime& before, const KernelTime& after) {
  const std::string change =
      from_to(seconds_of(before, c.binding_after), seconds_of(after, c.binding_after), "s");
  if (c.binding_before == c.binding_after) {
    return concat({label(c.binding_after), " binds before and after (", change, ")"});
  }
  return concat(
      {label(c.binding_after), " binds (", change, ") instead of ", label(c.binding_before)});
}

// Waves that changed otherwise than the binding bound did. A kernel can be DRAM-bound as a whole
// while its last wave, which draws less, is not.
std::string waves_that_differ(const TimeComparison& c, const KernelTime& before,
                              const KernelTime& after) {
  const double of_bound = seconds_of(after, c.binding_after) - seconds_of(before, c.binding_after);
  const double of_time = after.seconds - before.seconds;
  if (same(c.time_ratio, 1) || of_bound / of_time >= kExplains) return "";
  // Waves of another size or number are not comparable one by one; fill() says how they changed.
  if (!same(before.waves.waves, after.waves.waves)) return "";
  std::string text;
  const auto add = [&](const char* which, const WaveTime& a, const WaveTime& b) {
    if (a.count == 0 || b.count == 0 || same(a.seconds, b.seconds)) return;
    text += concat(
        {"; ", which, " ", from_to(a.seconds, b.seconds, "s"), ", bound by ", label(b.binding)});
  };
  add("a full wave takes", before.full, after.full);
  add(after.full.count > 0 ? "the last wave takes" : "the only wave takes", before.tail,
      after.tail);
  return text;
}

// A bound that fell although it did not decide: what the change was hoped to bring.
std::string vain_gain(const TimeComparison& c, double before_seconds) {
  for (const BoundChange& b : c.bounds) {
    if (b.before_s - b.after_s > kNotable * before_seconds && b.bound != c.binding_after) {
      return concat({"; ", label(b.bound), " falls (", from_to(b.before_s, b.after_s, "s"),
                     ") but does not decide"});
    }
  }
  return "";
}

std::string fill(const KernelTime& before, const KernelTime& after) {
  std::string text;
  const auto add = [&](const char* what, const std::string& value) {
    text += concat({"; ", what, " ", value});
  };
  const auto count = [&](const char* what, double a, double b) {
    if (!same(a, b)) add(what, concat({count_text(a), " -> ", count_text(b)}));
  };
  count("resident CTAs per SM", before.residency.ctas_per_sm, after.residency.ctas_per_sm);
  count("resident warps", before.residency.resident_warps, after.residency.resident_warps);
  count("CTAs", static_cast<double>(before.waves.ctas), static_cast<double>(after.waves.ctas));
  count("waves", before.waves.waves, after.waves.waves);
  const auto bytes = [&](const char* what, double a, double b) {
    if (!same(a, b)) add(what, from_to(a, b, "B"));
  };
  bytes("DRAM bytes", before.dram_bytes, after.dram_bytes);
  bytes("L2 bytes", before.l2_bytes, after.l2_bytes);
  bytes("bytes in flight", before.bytes_in_flight, after.bytes_in_flight);
  return text;
}

}  // namespace

TimeComparison compare(const KernelTime& before, const KernelTime& after) {
  TimeComparison c;
  if (!before.runs || !after.runs) {
    c.sentence = before.runs  ? "only the first of the two runs"
                 : after.runs ? "only the second of the two runs"
                              : "neither of the two runs";
    return c;
  }
  c.comparable = true;
  c.time_ratio = after.seconds / before.seconds;
  c.binding_before = before.binding;
  c.binding_after = after.binding;
  for (std::size_t i = 0; i < kBoundCount; ++i) {
    const auto bound = static_cast<Bound>(i);
    const BoundChange change{bound, seconds_of(before, bound), seconds_of(after, bound)};
    if (!same(change.before_s, change.after_s)) c.bounds.push_back(change);
  }
  std::stable_sort(c.bounds.begin(), c.bounds.end(),
                   [](const BoundChange& a, const BoundChange& b) {
                     return std::abs(a.after_s - a.before_s) > std::abs(b.after_s - b.before_s);
                   });
  c.sentence =
      concat({headline(c.time_ratio), ": ", decision(c, before, after),
              waves_that_differ(c, before, after),
              c.time_ratio > 1 && !same(c.time_ratio, 1) ? vain_gain(c, before.seconds) : "",
              fill(before, after)});
  return c;
}

}  // namespace smtwin

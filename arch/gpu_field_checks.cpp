// SPDX-License-Identifier: Apache-2.0
// What a field may hold, in words and as a test, and the contradictions between fields.
#include <algorithm>
#include <functional>
#include <utility>

#include "arch/gpu_fields.hpp"
#include "arch/quantity.hpp"

namespace smtwin {
namespace {

std::string joined(const std::vector<std::int64_t>& list) {
  std::string text;
  for (const std::int64_t entry : list) {
    text += (text.empty() ? "" : ", ") + std::to_string(entry);
  }
  return text;
}

}  // namespace

std::string field_text(const FieldValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return joined(*list);
  return "null";
}

bool in_range(const GpuField& field, const FieldValue& value) {
  const auto inside = [&](double x) { return x >= field.minimum && x <= field.maximum; };
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return inside(static_cast<double>(*integer));
  }
  if (const auto* real = std::get_if<double>(&value)) return inside(*real);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    return std::all_of(list->begin(), list->end(),
                       [&](std::int64_t x) { return inside(static_cast<double>(x)); });
  }
  return field.nullable;
}

std::string expected_type(const GpuField& field) {
  std::string type;
  switch (field.kind) {
    case FieldKind::integer:
      type = field.minimum >= 1 ? "a positive integer" : "a non-negative integer";
      break;
    case FieldKind::real:
      type = field.minimum > 0 ? "a positive number" : "a non-negative number";
      break;
    case FieldKind::integer_list:
      type = "a list of non-negative integers";
      break;
  }
  return field.nullable ? type + " or null" : type;
}

std::string expected_range(const GpuField& field) {
  const std::string range =
      " from " + number_text(field.minimum) + " to " + number_text(field.maximum);
  switch (field.kind) {
    case FieldKind::integer:
      return "an integer" + range;
    case FieldKind::real:
      return "a number" + range;
    case FieldKind::integer_list:
      return "integers" + range;
  }
  return range;
}

std::optional<BrokenRule> broken_rule(const GpuSpec& gpu) {
  const SmSpec& sm = gpu.sm;
  const auto at_most = [](const char* path, std::int64_t found, std::int64_t allowed,
                          const std::string& why) -> std::optional<BrokenRule> {
    if (found <= allowed) return std::nullopt;
    return BrokenRule{path, "expected at most " + std::to_string(allowed) + " (" + why +
                                "), found " + std::to_string(found)};
  };
  std::optional<BrokenRule> broken;
  const auto check = [&](std::optional<BrokenRule> rule) {
    if (!broken) broken = std::move(rule);
  };

  check(at_most("sm.max_threads_per_cta", sm.max_threads_per_cta,
                std::int64_t{sm.max_warps_per_sm} * sm.threads_per_warp,
                "sm.max_warps_per_sm x sm.threads_per_warp"));
  check(at_most("sm.registers_per_cta", sm.registers_per_cta, sm.registers_per_sm,
                "sm.registers_per_sm"));
  check(at_most("sm.partitions_per_sm", sm.partitions_per_sm, sm.register_check_partitions,
                "sm.register_check_partitions"));
  check(at_most("sm.shared_bytes_per_cta_optin", sm.shared_bytes_per_cta_optin,
                sm.shared_bytes_per_sm - sm.shared_bytes_reserved_per_cta,
                "sm.shared_bytes_per_sm less sm.shared_bytes_reserved_per_cta"));
  check(at_most("sm.shared_bytes_per_cta_default", sm.shared_bytes_per_cta_default,
                sm.shared_bytes_per_cta_optin, "sm.shared_bytes_per_cta_optin"));
  if (sm.l1_and_shared_bytes_per_sm != 0) {
    check(at_most("sm.shared_bytes_per_sm", sm.shared_bytes_per_sm, sm.l1_and_shared_bytes_per_sm,
                  "sm.l1_and_shared_bytes_per_sm"));
  }
  if (sm.max_cluster_ctas_nonportable) {
    check(at_most("sm.max_cluster_ctas_portable", sm.max_cluster_ctas_portable,
                  *sm.max_cluster_ctas_nonportable, "sm.max_cluster_ctas_nonportable"));
  }

  const auto first = sm.shared_carveouts_bytes.begin();
  const auto last = first + sm.shared_carveout_count;
  if (!broken && (first == last || *(last - 1) != sm.shared_bytes_per_sm ||
                  std::adjacent_find(first, last, std::greater_equal<>()) != last)) {
    broken = BrokenRule{"sm.shared_carveouts_bytes",
                        "expected ascending sizes that end with sm.shared_bytes_per_sm (" +
                            std::to_string(sm.shared_bytes_per_sm) + "), found [" +
                            joined({first, last}) + "]"};
  }
  return broken;
}

}  // namespace smtwin

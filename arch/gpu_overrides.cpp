// SPDX-License-Identifier: Apache-2.0
// --set path=value on a GPU: "what if SM120 had 228 KiB of shared memory". A changed field drags
// along the fields that would contradict it or that the hardware derives from it; each is reported
// with the reason, unless the same call sets it. Everything else stays as it is: a what-if changes
// what was asked for.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "arch/error.hpp"
#include "arch/gpu_fields.hpp"
#include "arch/gpu_spec_io.hpp"
#include "arch/nearest_names.hpp"
#include "arch/quantity.hpp"

namespace smtwin {
namespace {

std::string trimmed_copy(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// What a message may repeat of typed text: one line, not endless.
std::string shown(std::string text) {
  constexpr std::size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

const GpuField& field_named(const std::string& path) {
  if (const GpuField* field = find_gpu_field(path)) return *field;
  std::vector<std::string> paths;
  for (const GpuField& field : gpu_fields()) paths.emplace_back(field.path);
  const std::vector<std::string> near = nearest_names(path, paths);
  throw UsageError(
      "--set " + shown(path) + ": no such field of a GPU; " +
      (near.empty() ? "smtwin gpus NAME lists all" : "did you mean " + comma_list(near) + "?"));
}

class SettingParser {
 public:
  SettingParser(const GpuField& field, const std::string& text) : field_(field), text_(text) {}

  FieldValue parse() const {
    FieldValue value;
    switch (field_.kind) {
      case FieldKind::integer:
        value = integer(text_);
        break;
      case FieldKind::real:
        value = number(text_);
        break;
      case FieldKind::integer_list:
        value = list();
        break;
    }
    if (!in_range(field_, value)) {
      refuse("expected " + expected_range(field_) + ", found " + field_text(value));
    }
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw UsageError("--set " + std::string(field_.path) + ": " + problem);
  }

  double number(const std::string& text) const {
    std::string problem;
    const auto value = parse_quantity(text, field_.unit, &problem);
    if (value) return *value;
    const auto meant = probable_number(text);
    refuse("expected " + expected_range(field_) + ", found \"" + shown(text) + "\" (" + problem +
           ")" + (meant ? "; write " + number_text(*meant) : ""));
  }

  std::int64_t integer(const std::string& text) const {
    constexpr double kExactBelow = 9007199254740992.0;  // 2^53
    const double value = number(text);
    if (value != std::floor(value) || std::abs(value) >= kExactBelow) {
      refuse("expected " + expected_range(field_) + ", found \"" + shown(text) + "\"");
    }
    return static_cast<std::int64_t>(value);
  }

  // "0,8KiB,100KiB"; ':' separates as well, because --set splits several values at ','.
  std::vector<std::int64_t> list() const {
    std::vector<std::int64_t> entries;
    std::size_t begin = 0;
    while (begin <= text_.size()) {
      const std::size_t end = std::min(text_.find_first_of(",:", begin), text_.size());
      entries.push_back(integer(text_.substr(begin, end - begin)));
      begin = end + 1;
    }
    if (entries.size() > std::size_t{SmSpec::kMaxCarveouts}) {
      refuse("expected at most " + std::to_string(SmSpec::kMaxCarveouts) + " sizes, found " +
             std::to_string(entries.size()));
    }
    return entries;
  }

  const GpuField& field_;
  const std::string& text_;
};

// Applies settings to a copy of a GPU and lets the dependent fields follow.
class Overrides {
 public:
  explicit Overrides(const GpuSpec& original) : before_(original), gpu_(original) {}

  void set_by_user(const GpuField& field, const FieldValue& value) {
    if (!set_.emplace(field.path).second) {
      throw UsageError("--set " + std::string(field.path) + ": given twice; keep one");
    }
    put(field, value, "", "set by the user");
  }

  void let_dependents_follow() {
    follow_shared_memory();
    follow_registers_and_warps();
    if (changed("sm.max_ctas_per_sm")) follow_barriers();
    follow_clusters();
  }

  void check() const {
    const auto broken = broken_rule(gpu_);
    if (!broken || broken_rule(before_)) return;  // an invented chip may be incomplete already
    throw UsageError("--set: " + broken->path + ": " + broken->problem +
                     "; set these fields together");
  }

  const GpuSpec& gpu() const { return gpu_; }
  const std::vector<AppliedOverride>& applied() const { return applied_; }

 private:
  bool changed(const std::string& path) const { return set_.contains(path); }

  void put(const GpuField& field, const FieldValue& value, const std::string& reason,
           const std::string& source) {
    const std::string before = field_text(field.get(gpu_));
    field.set(gpu_, value);
    gpu_.sources[std::string(field.path)] = {Provenance::overridden, source, ""};
    applied_.push_back({std::string(field.path), before, field_text(value), reason});
  }

  // A field that follows another, unless the user gave it or it already has the value.
  void follow(const char* path, const FieldValue& value, const std::string& reason) {
    const GpuField& field = *find_gpu_field(path);
    if (changed(path) || field.get(gpu_) == value) return;
    if (!in_range(field, value)) {
      throw UsageError("--set: " + std::string(path) + " would follow (" + reason +
                       ") and become " + field_text(value) + ", outside " + expected_range(field) +
                       "; set it in the same call");
    }
    put(field, value, reason, reason);
  }

  void follow_shared_memory() {
    const SmSpec& was = before_.sm;
    const SmSpec& sm = gpu_.sm;
    const bool resized = changed("sm.shared_bytes_per_sm");
    if (resized) follow_carveouts();
    if (resized && was.l1_and_shared_bytes_per_sm != 0 &&
        sm.shared_bytes_per_sm > was.shared_bytes_per_sm) {
      const std::int64_t l1_only = was.l1_and_shared_bytes_per_sm - was.shared_bytes_per_sm;
      follow("sm.l1_and_shared_bytes_per_sm", sm.shared_bytes_per_sm + l1_only,
             "follows sm.shared_bytes_per_sm: keeps " + std::to_string(l1_only) +
                 " B that only the L1 can use");
    }
    if (resized || changed("sm.shared_bytes_reserved_per_cta")) {
      const std::int64_t room = sm.shared_bytes_per_sm - sm.shared_bytes_reserved_per_cta;
      const bool has_optin = was.shared_bytes_per_cta_optin > was.shared_bytes_per_cta_default;
      const bool whole_sm = was.shared_bytes_per_cta_optin ==
                            was.shared_bytes_per_sm - was.shared_bytes_reserved_per_cta;
      if ((has_optin && whole_sm) || sm.shared_bytes_per_cta_optin > room) {
        follow("sm.shared_bytes_per_cta_optin", room,
               "follows sm.shared_bytes_per_sm less the reserve of " +
                   std::to_string(sm.shared_bytes_reserved_per_cta) + " B");
      }
    }
    if (sm.shared_bytes_per_cta_default > sm.shared_bytes_per_cta_optin) {
      follow("sm.shared_bytes_per_cta_default", sm.shared_bytes_per_cta_optin,
             "follows sm.shared_bytes_per_cta_optin: cannot exceed it");
    }
  }

  // The new size becomes the largest carveout; larger ones go, smaller ones stay.
  void follow_carveouts() {
    const std::int64_t size = gpu_.sm.shared_bytes_per_sm;
    auto list =
        std::get<std::vector<std::int64_t>>(find_gpu_field("sm.shared_carveouts_bytes")->get(gpu_));
    // Where shared memory is separate from the L1 there is one size, and it is the memory.
    if (gpu_.sm.l1_and_shared_bytes_per_sm == 0) list.clear();
    std::erase_if(list, [&](std::int64_t carveout) { return carveout >= size; });
    if (list.size() == std::size_t{SmSpec::kMaxCarveouts}) list.pop_back();
    list.push_back(size);
    follow("sm.shared_carveouts_bytes", list,
           "follows sm.shared_bytes_per_sm: it is the largest carveout");
  }

  void follow_registers_and_warps() {
    const SmSpec& sm = gpu_.sm;
    if (sm.registers_per_cta > sm.registers_per_sm) {
      follow("sm.registers_per_cta", std::int64_t{sm.registers_per_sm},
             "follows sm.registers_per_sm: cannot exceed it");
    }
    const bool same_check = before_.sm.register_check_partitions == before_.sm.partitions_per_sm;
    if (changed("sm.partitions_per_sm") &&
        (same_check || sm.register_check_partitions < sm.partitions_per_sm)) {
      follow("sm.register_check_partitions", std::int64_t{sm.partitions_per_sm},
             "follows sm.partitions_per_sm");
    }
    const std::int64_t threads = std::int64_t{sm.max_warps_per_sm} * sm.threads_per_warp;
    if (sm.max_threads_per_cta > threads) {
      follow("sm.max_threads_per_cta", threads,
             "follows sm.max_warps_per_sm: a CTA cannot have more warps than an SM");
    }
  }

  // The chips give each CTA slot one barrier or two.
  void follow_barriers() {
    const std::int64_t slots = before_.sm.max_ctas_per_sm;
    const std::int64_t barriers = before_.sm.barriers_per_sm;
    if (barriers == 0 || barriers % slots != 0) return;
    const std::int64_t each = barriers / slots;
    follow("sm.barriers_per_sm", each * gpu_.sm.max_ctas_per_sm,
           "follows sm.max_ctas_per_sm: " + std::to_string(each) + " for each CTA slot");
  }

  void follow_clusters() {
    const SmSpec& sm = gpu_.sm;
    if (!sm.max_cluster_ctas_nonportable) return;
    const std::int64_t portable = sm.max_cluster_ctas_portable;
    const std::int64_t largest = *sm.max_cluster_ctas_nonportable;
    if (portable <= largest) return;
    if (changed("sm.max_cluster_ctas_portable")) {
      follow("sm.max_cluster_ctas_nonportable", portable,
             "follows sm.max_cluster_ctas_portable: cannot be smaller");
    } else {
      follow("sm.max_cluster_ctas_portable", largest,
             "follows sm.max_cluster_ctas_nonportable: cannot exceed it");
    }
  }

  const GpuSpec& before_;
  GpuSpec gpu_;
  std::set<std::string> set_;
  std::vector<AppliedOverride> applied_;
};

}  // namespace

std::vector<AppliedOverride> apply_overrides(GpuSpec& gpu,
                                             const std::vector<std::string>& settings) {
  Overrides overrides(gpu);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw UsageError("--set " + shown(setting) +
                       ": expected path=value, for example sm.shared_bytes_per_sm=228KiB");
    }
    const GpuField& field = field_named(trimmed_copy(setting.substr(0, equals)));
    const std::string text = trimmed_copy(setting.substr(equals + 1));
    overrides.set_by_user(field, SettingParser(field, text).parse());
  }
  overrides.let_dependents_follow();
  overrides.check();
  std::vector<AppliedOverride> applied = overrides.applied();
  gpu = GpuSpec(overrides.gpu());
  return applied;
}

bool is_gpu_field(const std::string& path) { return find_gpu_field(path) != nullptr; }

}  // namespace smtwin

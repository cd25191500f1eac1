// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_overrides.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "arch/error.hpp"
#include "arch/nearest_names.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

// The key of the language model inside `root`; "" where the whole file describes it.
std::string nested_key(const Json& root) {
  for (const char* key : kNestedConfigs) {
    const auto found = root.find(key);
    if (found != root.end() && found->is_object()) return key;
  }
  return "";
}

std::vector<std::string> split_dots(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : path) {
    if (c == '.') {
      parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(part);
  return parts;
}

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 40;
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

void apply(Json& root, const std::string& setting, std::vector<HfOverride>& applied) {
  const std::size_t equals = setting.find('=');
  std::string field = setting.substr(0, equals);
  if (field.rfind("model.", 0) == 0) field.erase(0, 6);
  std::vector<std::string> parts = split_dots(field);
  const bool hole = std::find(parts.begin(), parts.end(), "") != parts.end();
  if (equals == std::string::npos || hole) {
    throw UsageError("--set model." + field + ": expected model.FIELD=VALUE with a field of the " +
                     "model's config.json, such as model.num_hidden_layers=4");
  }
  const std::string nested = nested_key(root);
  if (!nested.empty() && parts.front() != nested &&
      (root[nested].contains(parts.front()) || !root.contains(parts.front()))) {
    parts.insert(parts.begin(), nested);
  }
  Json* place = &root;
  HfOverride change;
  change.field = field;
  for (const std::string& part : parts) {
    if (!place->is_object()) {
      throw UsageError("--set model." + field + ": " + change.pointer +
                       " is not an object, so it has no field \"" + part + "\"");
    }
    change.pointer += '/' + part;
    const bool last = &part == &parts.back();
    if (last) change.before = place->contains(part) ? shown((*place)[part]) : "absent";
    if (!last && !place->contains(part)) (*place)[part] = Json::object();
    place = &(*place)[part];
  }
  const std::string text = setting.substr(equals + 1);
  Json value = Json::parse(text, nullptr, false);
  *place = value.is_discarded() ? Json(text) : value;
  change.after = shown(*place);
  applied.push_back(std::move(change));
}

}  // namespace

std::string patch_json(const std::string& text, const std::string& file_name,
                       const std::vector<std::string>& settings, std::vector<HfOverride>& applied) {
  if (settings.empty()) return text;
  HfObject::parse(text, file_name);  // complains about text that is not a JSON object
  Json root = Json::parse(text);
  for (const std::string& setting : settings) apply(root, setting, applied);
  return root.dump(2, ' ', false, Json::error_handler_t::replace);
}

void require_overrides_were_read(const HfObject& root, const std::vector<HfOverride>& overrides) {
  const std::vector<std::string> read = root.pointers_read();
  for (const HfOverride& change : overrides) {
    if (std::find(read.begin(), read.end(), change.pointer) != read.end()) continue;
    std::vector<std::string> names;
    for (const std::string& pointer : read) {
      std::string name = pointer.substr(1);
      std::replace(name.begin(), name.end(), '/', '.');
      for (const char* key : kNestedConfigs) {
        const std::string prefix = std::string(key) + '.';
        if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
      }
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    const std::vector<std::string> near = nearest_names(change.field, names);
    const std::string what = change.before == "absent"
                                 ? ": this kind of model has no such field"
                                 : ": nothing that is modelled depends on this field";
    throw UsageError("--set model." + change.field + what +
                     (near.empty() ? "; fields: " + comma_list(names)
                                   : "; did you mean " + comma_list(near) + '?'));
  }
}

}  // namespace smtwin

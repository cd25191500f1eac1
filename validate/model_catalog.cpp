// SPDX-License-Identifier: Apache-2.0
#include "validate/model_catalog.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "arch/nearest_names.hpp"
#include "validate/observations/hf_config.hpp"
#include "validate/observations/hf_json.hpp"

namespace smtwin {
namespace {

namespace fs = std::filesystem;

struct ShippedModel {
  ModelCard card;
  HfFiles files;
};

// Letters and digits alone, without organization and in lower case: "meta-llama/Llama-3.1-8B" and
// "llama 3.1 8b" are the same.
std::string normalized(const std::string& name) {
  const std::size_t slash = name.find_last_of('/');
  std::string text = slash == std::string::npos ? name : name.substr(slash + 1);
  const std::size_t dashes = text.find("--");
  if (dashes != std::string::npos) text.erase(0, dashes + 2);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte)) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

PublishedCounts read_published(const HfObject& where) {
  constexpr double kMostParameters = 1e15;
  PublishedCounts published;
  published.total_parameters = where.number("total_parameters", 1, kMostParameters);
  if (where.has("active_parameters")) {
    published.active_parameters = where.number("active_parameters", 1, kMostParameters);
  }
  published.source = where.text("source");
  return published;
}

void require_only(const HfObject& where, const std::vector<std::string>& allowed) {
  for (const std::string& key : where.keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      where.fail(key, "unknown; allowed: " + comma_list(allowed));
    }
  }
}

// A file in the layout of data/SCHEMA.md, "Models".
ShippedModel read_shipped(const std::string& path, const HfObject& root) {
  require_only(root, {"schema_version", "name", "display_name", "source", "aliases", "published",
                      "config", "hf_quant_config"});
  root.integer("schema_version", {.minimum = 1, .maximum = 1});
  ShippedModel shipped;
  shipped.card.name = root.text("name");
  shipped.card.display_name = root.text("display_name");
  shipped.card.source = root.text("source");
  shipped.card.aliases = root.optional_texts("aliases").value_or(std::vector<std::string>{});
  const HfObject published = root.object("published");
  require_only(published, {"total_parameters", "active_parameters", "source"});
  shipped.card.published = read_published(published);
  shipped.files.model_name = shipped.card.display_name;
  shipped.files.config_name = fs::path(path).filename().string();
  shipped.files.config_text = root.object("config").dump();
  shipped.files.config_pointer = "/config";
  if (const auto quant = root.optional_object("hf_quant_config")) {
    shipped.files.quant_name = shipped.files.config_name;
    shipped.files.quant_pointer = "/hf_quant_config";
    shipped.files.quant_text = quant->dump();
  }
  return shipped;
}

ShippedModel load_shipped(const std::string& path) {
  const HfObject root = HfObject::parse(read_description_file(path), path);
  ShippedModel shipped = read_shipped(path, root);
  const std::string stem = fs::path(path).stem().string();
  if (shipped.card.name != stem) {
    root.fail("name",
              "found " + root.found("name") + "; allowed: \"" + stem + "\", the file's name");
  }
  return shipped;
}

std::vector<ShippedModel> load_catalog() {
  const fs::path folder = fs::path(data_directory()) / "models";
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json") paths.push_back(it->path().string());
  }
  if (error) throw DataError(folder.string() + ": cannot be listed: " + error.message());
  std::sort(paths.begin(), paths.end());
  std::vector<ShippedModel> models;
  for (const std::string& path : paths) models.push_back(load_shipped(path));
  return models;
}

bool answers_to(const ModelCard& card, const std::string& name) {
  const std::string wanted = normalized(name);
  std::vector<std::string> names{card.name, card.display_name};
  names.insert(names.end(), card.aliases.begin(), card.aliases.end());
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& known) { return normalized(known) == wanted; });
}

std::optional<ShippedModel> find_shipped(const std::vector<ShippedModel>& catalog,
                                         const std::string& name) {
  if (normalized(name).empty()) return std::nullopt;
  for (const ShippedModel& model : catalog) {
    if (answers_to(model.card, name)) return model;
  }
  return std::nullopt;
}

std::vector<std::string> names_of(const std::vector<ShippedModel>& catalog) {
  std::vector<std::string> names;
  for (const ShippedModel& model : catalog) names.push_back(model.card.name);
  return names;
}

[[noreturn]] void refuse(const std::string& name, const std::vector<ShippedModel>& catalog) {
  const std::vector<std::string> names = names_of(catalog);
  const std::vector<std::string> near = nearest_names(name, names);
  const bool path_like = name.find_first_of("/\\") != std::string::npos || name.ends_with(".json");
  if (path_like && near.empty()) {
    throw DataError(name + ": no such file, nor is it a shipped model (smtwin models lists them)");
  }
  throw UsageError(
      "unknown model \"" + name + '"' +
      (near.empty() ? "; shipped: " + comma_list(names)
                    : "; did you mean " + comma_list(near) + '?') +
      " (smtwin models lists all; a config.json or a checkpoint's folder is fine too)");
}

bool is_model_path(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) || fs::exists(fs::path(path) / "config.json", ignored);
}

// A config.json, or a file like the shipped ones.
HfFiles files_at(const std::string& path) {
  HfFiles files = find_hf_files(path);
  const HfObject root = HfObject::parse(files.config_text, files.config_name);
  if (root.has("schema_version") && root.has("config")) return read_shipped(path, root).files;
  return files;
}

}  // namespace

std::vector<std::string> model_names() { return names_of(load_catalog()); }

ModelCard find_model_card(const std::string& name) {
  const std::vector<ShippedModel> catalog = load_catalog();
  const auto found = find_shipped(catalog, name);
  if (!found) refuse(name, catalog);
  return found->card;
}

ModelSpec find_model(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  HfFiles files;
  if (is_model_path(name_or_path)) {
    files = files_at(name_or_path);
  } else {
    const std::vector<ShippedModel> catalog = load_catalog();
    const auto found = find_shipped(catalog, name_or_path);
    if (!found) {
      std::error_code ignored;
      if (fs::exists(name_or_path, ignored)) find_hf_files(name_or_path);  // says what is wrong
      refuse(name_or_path, catalog);
    }
    files = found->files;
  }
  files.overrides = overrides;
  return read_hf_config(files);
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// data/kernels/<kernel>.json, read strictly and written one variant a line, so that a change of one
// variant is one line of a diff. The only file of kernels/ that sees JSON or the disk.
#include <charconv>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "arch/json_text.hpp"
#include "kernels/compiled_table.hpp"

namespace smtwin {
namespace {

using nlohmann::json;
using Int = std::int64_t;

constexpr int kSchemaVersion = 1;
constexpr Int kMost = std::numeric_limits<std::int32_t>::max();

// One object of the file with its place, for messages.
struct Node {
  const json& value;
  const std::string& where;
  std::string pointer;

  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    const std::string path = pointer + (key.empty() ? "" : json_pointer_part(key));
    throw DataError(where + ": " + (path.empty() ? "/" : path) + ": " + problem);
  }
  std::string found(const json& at) const {
    if (at.is_structured()) return at.is_object() ? "an object" : "a list";
    return at.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 60);
  }
  void expect_keys(std::initializer_list<const char*> keys) const {
    if (!value.is_object()) fail("", "expected an object, found " + found(value));
    for (const char* key : keys) {
      if (!value.contains(key)) fail(key, "missing");
    }
    if (value.size() == keys.size()) return;
    std::string allowed;
    for (const char* key : keys) allowed += (allowed.empty() ? "" : ", ") + std::string(key);
    fail("", "an unknown key; allowed: " + allowed);
  }
  Int integer(const char* key) const {
    const json& at = value.at(key);
    if (!at.is_number_integer() || at < 0 || at > kMost) {
      fail(key, "expected an integer from 0 to " + std::to_string(kMost) + ", found " + found(at));
    }
    return at.get<Int>();
  }
  std::int32_t count(const char* key) const { return static_cast<std::int32_t>(integer(key)); }
  std::string text(const char* key) const {
    const json& at = value.at(key);
    if (!at.is_string()) fail(key, "expected a string, found " + found(at));
    return at.get<std::string>();
  }
};

ComputeCapability read_target(const Node& node) {
  const std::string text = node.text("target");
  ComputeCapability cc;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, cc.major);
  const bool dot = major.ec == std::errc{} && major.ptr != end && *major.ptr == '.';
  const auto minor = std::from_chars(dot ? major.ptr + 1 : end, end, cc.minor);
  if (!dot || minor.ec != std::errc{} || minor.ptr != end || cc.major < 1 || cc.minor < 0) {
    node.fail("target", "expected a compute capability like \"9.0\", found " + json_quoted(text));
  }
  return cc;
}

CompiledVariant read_variant(const Node& node) {
  node.expect_keys({"symbol", "config", "target", "threads_per_cta", "registers_per_thread",
                    "static_shared_bytes", "dynamic_shared_bytes", "stack_bytes", "spill_stores",
                    "spill_loads", "barriers", "instructions"});
  CompiledVariant v;
  v.symbol = node.text("symbol");
  v.config = node.text("config");
  v.target = read_target(node);
  v.threads_per_cta = node.count("threads_per_cta");
  v.registers_per_thread = node.count("registers_per_thread");
  v.static_shared_bytes = node.integer("static_shared_bytes");
  v.dynamic_shared_bytes = node.integer("dynamic_shared_bytes");
  v.stack_bytes = node.integer("stack_bytes");
  v.spill_stores = node.count("spill_stores");
  v.spill_loads = node.count("spill_loads");
  v.barriers = node.count("barriers");
  const Node groups{node.value.at("instructions"), node.where, node.pointer + "/instructions"};
  if (!groups.value.is_object()) groups.fail("", "expected an object of counts by group");
  for (const auto& [group, ignored] : groups.value.items()) {
    v.instructions[group] = groups.count(group.c_str());
  }
  return v;
}

json parse(const std::string& text, const std::string& where) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::size_t byte = error.byte == 0 ? 0 : error.byte - 1;
    throw DataError(where + ": " + text_position(text, byte) +
                    ": not valid JSON; regenerate it (target kernel_tables)");
  } catch (const json::exception&) {
    throw DataError(where + ": a number too large for any field");
  }
}

CompiledTable from_data_folder(const std::string& kernel) {
  const auto file = std::filesystem::path(data_directory()) / "kernels" / (kernel + ".json");
  if (!std::filesystem::exists(file)) return {.kernel = kernel, .compiler = "", .variants = {}};
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw DataError(file.string() + ": cannot be read");
  CompiledTable table = read_compiled_table(text, file.string());
  if (table.kernel != kernel) {
    throw DataError(file.string() + ": /kernel: expected " + json_quoted(kernel) + ", found " +
                    json_quoted(table.kernel));
  }
  return table;
}

}  // namespace

const CompiledTable& compiled_table(const std::string& kernel) {
  static std::mutex mutex;
  static std::map<std::string, CompiledTable> tables;
  const std::lock_guard lock(mutex);
  const auto known = tables.find(kernel);
  if (known != tables.end()) return known->second;
  return tables.emplace(kernel, from_data_folder(kernel)).first->second;
}

CompiledTable read_compiled_table(const std::string& text, const std::string& where) {
  const json document = parse(text, where);
  const Node root{document, where, ""};
  root.expect_keys({"schema_version", "kernel", "compiler", "variants"});
  if (root.integer("schema_version") != kSchemaVersion) {
    root.fail("schema_version", "expected 1, found " + root.found(document.at("schema_version")));
  }
  CompiledTable table{
      .kernel = root.text("kernel"), .compiler = root.text("compiler"), .variants = {}};
  const json& variants = document.at("variants");
  if (!variants.is_array()) root.fail("variants", "expected a list");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    table.variants.push_back(read_variant({variants[i], where, "/variants/" + std::to_string(i)}));
  }
  return table;
}

std::string write_compiled_table(const CompiledTable& table) {
  std::string out = "{\n \"schema_version\": " + std::to_string(kSchemaVersion) +
                    ",\n \"kernel\": " + json_quoted(table.kernel) +
                    ",\n \"compiler\": " + json_quoted(table.compiler) + ",\n \"variants\": [";
  const char* separator = "\n  ";
  for (const CompiledVariant& v : table.variants) {
    const nlohmann::ordered_json line = {
        {"symbol", v.symbol},
        {"config", v.config},
        {"target", std::to_string(v.target.major) + "." + std::to_string(v.target.minor)},
        {"threads_per_cta", v.threads_per_cta},
        {"registers_per_thread", v.registers_per_thread},
        {"static_shared_bytes", v.static_shared_bytes},
        {"dynamic_shared_bytes", v.dynamic_shared_bytes},
        {"stack_bytes", v.stack_bytes},
        {"spill_stores", v.spill_stores},
        {"spill_loads", v.spill_loads},
        {"barriers", v.barriers},
        {"instructions", v.instructions}};
    out += separator + line.dump();
    separator = ",\n  ";
  }
  return out + "\n ]\n}\n";
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Reads a GPU file. Keys, types and ranges come from the table in gpu_fields.cpp; here is how a
// file is laid out and what a bad one is told. gpu_spec_write.cpp is the way back.
#include "arch/gpu_spec_io.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "arch/error.hpp"
#include "arch/gpu_fields.hpp"
#include "arch/json_text.hpp"
#include "arch/nearest_names.hpp"
#include "arch/quantity.hpp"

namespace smtwin {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = 4U << 20;  // a GPU file is some 15 kB
constexpr std::array<const char*, 6> kIdentityKeys{
    "schema_version", "name", "display_name", "aliases", "compute_capability", "notes"};

std::string found_text(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  constexpr std::size_t kLongest = 60;
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

// "unexpected end of input" out of the library's "[id] parse error at ...: syntax error while
// parsing value - unexpected end of input; expected '}'".
std::string syntax_problem(const std::string& what) {
  const std::size_t dash = what.find(" - ");
  if (dash == std::string::npos) return "syntax error";
  std::string problem = what.substr(dash + 3, what.find(';', dash) - dash - 3);
  std::replace_if(
      problem.begin(), problem.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return problem;
}

// Parses and refuses what JSON leaves open: a key given twice in one object.
class StrictParser {
 public:
  explicit StrictParser(std::string file) : file_(std::move(file)) {}

  json parse(std::string_view text) {
    try {
      return json::parse(text.begin(), text.end(),
                         [this](int, json::parse_event_t event, json& parsed) {
                           note(event, parsed);
                           return true;
                         });
    } catch (const json::parse_error& error) {
      const std::size_t byte = error.byte == 0 ? 0 : error.byte - 1;  // theirs count from one
      throw DataError(file_ + ": " + text_position(text, byte) +
                      ": not valid JSON: " + syntax_problem(error.what()));
    } catch (const json::exception&) {  // a number like 1e400
      throw DataError(file_ + ": " + pointer() + ": number too large for any field");
    }
  }

 private:
  struct Level {
    std::set<std::string> keys;
    std::string key;
  };

  void note(json::parse_event_t event, const json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        levels_.emplace_back();
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        levels_.pop_back();
        break;
      case json::parse_event_t::key:
        levels_.back().key = parsed.get<std::string>();
        if (!levels_.back().keys.insert(levels_.back().key).second) {
          throw DataError(file_ + ": " + pointer() + ": key given twice; keep one");
        }
        break;
      case json::parse_event_t::value:
        break;
    }
  }

  std::string pointer() const {
    std::string path;
    for (const Level& level : levels_) {
      if (!level.key.empty()) path += json_pointer_part(level.key);
    }
    return path.empty() ? "/" : path;
  }

  std::string file_;
  std::vector<Level> levels_;
};

std::string field_pointer(std::string_view path) {
  std::string pointer = '/' + std::string(path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return pointer;
}

class GpuReader {
 public:
  GpuReader(std::string_view text, const std::string& file)
      : file_(file), document_(StrictParser(file).parse(text)) {}

  GpuSpec read() {
    if (!document_.is_object()) {
      fail("/", "expected an object with the fields of a GPU, found " + found_text(document_));
    }
    check_keys(document_, "", keys_of_group(""));
    GpuSpec gpu;
    gpu.file = file_;
    read_identity(gpu);
    for (const GpuField& field : gpu_fields()) read_field(gpu, field);
    if (const auto broken = broken_rule(gpu)) {
      fail(field_pointer(broken->path) + "/value", broken->problem);
    }
    return gpu;
  }

 private:
  [[noreturn]] void fail(const std::string& pointer, const std::string& problem) const {
    throw DataError(file_ + ": " + pointer + ": " + problem);
  }

  // Keys of the document (group "") or of one of its groups, in file order.
  static std::vector<std::string> keys_of_group(const std::string& wanted) {
    std::vector<std::string> keys;
    if (wanted.empty()) keys.assign(kIdentityKeys.begin(), kIdentityKeys.end());
    for (const GpuField& field : gpu_fields()) {
      const auto [group, key] = field_key(field.path);
      const std::string& next = wanted.empty() && !group.empty() ? group : key;
      const bool belongs = wanted.empty() || group == wanted;
      if (belongs && (keys.empty() || keys.back() != next)) keys.push_back(next);
    }
    return keys;
  }

  void check_keys(const json& object, const std::string& pointer,
                  const std::vector<std::string>& expected,
                  const std::vector<std::string>& optional = {}) const {
    for (const auto& [key, value] : object.items()) {
      if (std::find(expected.begin(), expected.end(), key) != expected.end()) continue;
      if (std::find(optional.begin(), optional.end(), key) != optional.end()) continue;
      std::vector<std::string> near = nearest_names(key, expected, 3);
      fail(pointer + json_pointer_part(key),
           "unknown key; " + (near.empty() ? "allowed are " + comma_list(expected)
                                           : "did you mean " + comma_list(near) + "?"));
    }
    for (const std::string& key : expected) {
      if (object.contains(key)) continue;
      fail(pointer + json_pointer_part(key),
           "missing; a GPU file has every key, with value null and provenance unknown where "
           "nobody knows");
    }
  }

  std::string text_at(const json& object, const std::string& pointer, const char* key) const {
    const json& value = object.at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail(pointer + '/' + key, "expected a text that is not empty, found " + found_text(value));
    }
    return value.get<std::string>();
  }

  std::vector<std::string> texts_at(const char* key) const {
    const json& list = document_.at(key);
    if (!list.is_array()) {
      fail(std::string("/") + key, "expected a list of texts, found " + found_text(list));
    }
    std::vector<std::string> texts;
    for (const json& entry : list) {
      if (!entry.is_string() || entry.get_ref<const std::string&>().empty()) {
        fail('/' + std::string(key) + '/' + std::to_string(texts.size()),
             "expected a text that is not empty, found " + found_text(entry));
      }
      texts.push_back(entry.get<std::string>());
    }
    return texts;
  }

  void read_identity(GpuSpec& gpu) const {
    const json& version = document_.at("schema_version");
    if (!version.is_number_integer() || version != kGpuSchemaVersion) {
      fail("/schema_version",
           "expected " + std::to_string(kGpuSchemaVersion) + ", found " + found_text(version));
    }
    gpu.name = text_at(document_, "", "name");
    if (gpu.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
      fail("/name", "expected lower-case letters, digits and '-', found " + json_quoted(gpu.name));
    }
    gpu.display_name = text_at(document_, "", "display_name");
    gpu.aliases = texts_at("aliases");
    gpu.notes = texts_at("notes");

    const std::string cc = text_at(document_, "", "compute_capability");
    const std::size_t dot = cc.find('.');
    const auto number = [](std::string_view digits) {
      int value = -1;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return read.ptr == digits.data() + digits.size() ? value : -1;
    };
    const int major = number(std::string_view(cc).substr(0, dot));
    const int minor = dot == std::string::npos ? -1 : number(std::string_view(cc).substr(dot + 1));
    if (major < 1 || major > 99 || minor < 0 || minor > 9) {
      fail("/compute_capability", "expected major.minor like \"12.0\", found " + json_quoted(cc));
    }
    gpu.compute_capability = {major, minor};
  }

  void read_field(GpuSpec& gpu, const GpuField& field) {
    const auto [group, key] = field_key(field.path);
    const json* parent = &document_;
    if (!group.empty()) {
      parent = &document_.at(group);
      if (!parent->is_object()) {
        fail('/' + group, "expected an object, found " + found_text(*parent));
      }
      if (checked_groups_.insert(group).second) {
        check_keys(*parent, '/' + group, keys_of_group(group));
      }
    }
    const std::string pointer = field_pointer(field.path);
    const json& entry = parent->at(key);
    if (!entry.is_object()) {
      fail(pointer, "expected {\"value\": ..., \"provenance\": ..., \"source\": ...}, found " +
                        found_text(entry));
    }
    check_keys(entry, pointer, {"value", "provenance", "source"}, {"note"});
    const FieldValue value = value_of(entry.at("value"), field, pointer + "/value");
    gpu.sources[std::string(field.path)] = source_of(entry, value, pointer);
    field.set(gpu, value);
  }

  Source source_of(const json& entry, const FieldValue& value, const std::string& pointer) const {
    Source source;
    const std::string name = text_at(entry, pointer, "provenance");
    const auto provenance = provenance_from_string(name);
    if (!provenance) {
      fail(pointer + "/provenance",
           "unknown provenance " + json_quoted(name) +
               "; allowed are datasheet, compiled, measured, fitted, transferred, extrapolated, "
               "assumed, override, and unknown for null");
    }
    source.provenance = *provenance;
    source.source = text_at(entry, pointer, "source");
    if (entry.contains("note")) source.note = text_at(entry, pointer, "note");

    const bool known = !std::holds_alternative<std::monostate>(value);
    if (known == (source.provenance == Provenance::unknown)) {
      fail(pointer + "/provenance",
           known ? "\"unknown\" belongs to the value null; say where " + field_text(value) +
                       " comes from, or \"assumed\""
                 : "expected \"unknown\" because the value is null, found " + json_quoted(name));
    }
    return source;
  }

  FieldValue value_of(const json& value, const GpuField& field, const std::string& pointer) const {
    if (value.is_null() && field.nullable) return {};
    const auto wrong_type = [&](const json& found) {
      std::string problem = "expected " + expected_type(field) + ", found " + found_text(found);
      if (found.is_string()) {
        const auto meant = probable_number(found.get_ref<const std::string&>());
        if (meant) problem += "; write " + number_text(*meant);
      }
      fail(pointer, problem);
    };
    const auto integer = [&](const json& entry) -> std::int64_t {
      if (!entry.is_number_integer()) wrong_type(entry);
      if (entry.is_number_unsigned() &&
          entry.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        fail(pointer, "expected " + expected_range(field) + ", found " + found_text(entry));
      }
      return entry.get<std::int64_t>();
    };
    FieldValue result;
    switch (field.kind) {
      case FieldKind::integer:
        result = integer(value);
        break;
      case FieldKind::real:
        if (!value.is_number()) wrong_type(value);
        result = value.get<double>();
        break;
      case FieldKind::integer_list: {
        if (!value.is_array()) wrong_type(value);
        std::vector<std::int64_t> list;
        for (const json& entry : value) list.push_back(integer(entry));
        if (list.size() > std::size_t{SmSpec::kMaxCarveouts}) {
          fail(pointer, "expected at most " + std::to_string(SmSpec::kMaxCarveouts) +
                            " sizes, found " + std::to_string(list.size()));
        }
        result = std::move(list);
        break;
      }
    }
    if (!in_range(field, result)) {
      fail(pointer, "expected " + expected_range(field) + ", found " + field_text(result));
    }
    return result;
  }

  std::string file_;
  json document_;
  std::set<std::string> checked_groups_;
};

}  // namespace

GpuSpec read_gpu_spec(std::string_view json_text, const std::string& file_name) {
  return GpuReader(json_text, file_name).read();
}

GpuSpec load_gpu_spec(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw DataError(path + ": is a folder; expected a GPU file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError(path + ": cannot be read; check the path and its permissions");
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFile) throw DataError(path + ": larger than 4 MiB; not a GPU file");
  return read_gpu_spec(text, path);
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "arch/error.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

// A model file holds a few hundred fields, the longest ignore lists 40 kB.
constexpr std::size_t kLargestFileBytes = 16u << 20;
constexpr int kDeepestNesting = 64;

// Keys and values come from the file: control characters would break the one line of a message.
std::string printable(const std::string& text, std::size_t longest) {
  std::string out;
  for (const char c : text.substr(0, longest)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return text.size() > longest ? out + "..." : out;
}

std::string quote(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list of " + std::to_string(value.size());
    default:
      break;
  }
  constexpr std::size_t kLongestQuote = 60;
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), kLongestQuote);
}

std::string allowed_range(HfRange range) {
  return "an integer from " + std::to_string(range.minimum) + " to " +
         std::to_string(range.maximum);
}

// Numbers beyond int64 are floats or unsigned in the library; both are out of every range here.
std::optional<std::int64_t> as_integer(const Json& value, HfRange range) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  const auto number = value.get<std::int64_t>();
  if (number < range.minimum || number > range.maximum) return std::nullopt;
  return number;
}

const Json& json_of(const void* value) { return *static_cast<const Json*>(value); }

const Json* member(const void* object, std::string_view key) {
  const Json& json = json_of(object);
  const auto found = json.find(std::string(key));
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

// "line 3, column 7" of a byte offset, both from 1.
std::string line_and_column(const std::string& text, std::size_t offset) {
  const std::string before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n');
  const std::size_t column =
      line_start == std::string::npos ? before.size() + 1 : before.size() - line_start;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

Json parse_object(const std::string& text, const std::string& file_name) {
  if (text.size() > kLargestFileBytes) {
    throw DataError(file_name + ": " + std::to_string(text.size()) +
                    " bytes are too many for a model description; allowed: up to " +
                    std::to_string(kLargestFileBytes));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw DataError(file_name + ": empty; expected a JSON object");
  }
  const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepestNesting) {
      throw DataError(file_name + ": nested more than " + std::to_string(kDeepestNesting) +
                      " deep; a model description is not");
    }
    return true;
  };
  Json root;
  try {
    root = Json::parse(text, limit_depth);
  } catch (const Json::parse_error& error) {
    const bool ended = error.byte >= text.size();
    const std::size_t offset = std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1);
    throw DataError(file_name + ": " + line_and_column(text, offset) +
                    (ended ? ": the JSON text ends early; is the file complete?"
                           : ": not JSON from here: " + printable(text.substr(offset), 20)));
  } catch (const Json::exception&) {
    throw DataError(file_name + ": holds a number too large to read");
  }
  if (!root.is_object()) {
    throw DataError(file_name + ": found " + quote(root) + "; expected a JSON object");
  }
  return root;
}

}  // namespace

struct HfDocument {
  std::string file_name;
  std::string pointer_prefix;
  Json root;
  std::vector<HfOverride> overrides;
  std::set<std::string> pointers_read;
};

HfObject HfObject::parse(const std::string& text, const std::string& file_name,
                         std::vector<HfOverride> overrides, const std::string& pointer_prefix) {
  auto document = std::make_shared<HfDocument>();
  document->file_name = file_name;
  document->pointer_prefix = pointer_prefix;
  document->root = parse_object(text, file_name);
  document->overrides = std::move(overrides);
  const void* root = &document->root;
  return HfObject(std::move(document), root, "");
}

std::string HfObject::pointer(std::string_view key) const {
  return pointer_ + '/' + printable(std::string(key), 200);
}

void HfObject::expect_keys(const std::vector<std::string>& allowed) const {
  for (const std::string& key : keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) fail(key, "unknown key");
  }
}

const std::string& HfObject::file_name() const { return document_->file_name; }

std::string HfObject::dump() const {
  return json_of(value_).dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string HfObject::found(std::string_view key) const {
  const Json* value = member(value_, key);
  return value == nullptr ? "nothing" : quote(*value);
}

void HfObject::fail(std::string_view key, const std::string& complaint) const {
  const std::string where = pointer(key);
  constexpr std::size_t kLongestComplaint = 2'000;
  std::string message = document_->file_name + ": " + document_->pointer_prefix + where + ": " +
                        printable(complaint, kLongestComplaint);
  for (const HfOverride& change : document_->overrides) {
    if (change.pointer == where) message += " (set by the user)";
  }
  throw DataError(message);
}

void HfObject::not_modelled(std::string_view key, const std::string& modelled) const {
  fail(key, found(key) + " is not modelled; modelled: " + modelled);
}

bool HfObject::has(std::string_view key) const {
  document_->pointers_read.insert(pointer(key));
  return member(value_, key) != nullptr;
}

bool HfObject::holds_text(std::string_view key) const {
  return has(key) && member(value_, key)->is_string();
}

bool HfObject::holds_list(std::string_view key) const {
  return has(key) && member(value_, key)->is_array();
}

std::optional<std::int64_t> HfObject::optional_integer(std::string_view key, HfRange range) const {
  if (!has(key)) return std::nullopt;
  const auto number = as_integer(*member(value_, key), range);
  if (!number) fail(key, "found " + found(key) + "; allowed: " + allowed_range(range));
  return number;
}

std::int64_t HfObject::integer(std::string_view key, HfRange range) const {
  const auto number = optional_integer(key, range);
  if (!number) fail(key, "missing; needed: " + allowed_range(range));
  return *number;
}

std::int64_t HfObject::integer_or(std::string_view key, std::int64_t fallback,
                                  HfRange range) const {
  return optional_integer(key, range).value_or(fallback);
}

double HfObject::number(std::string_view key, double minimum, double maximum) const {
  std::ostringstream allowed;
  allowed << "a number from " << minimum << " to " << maximum;
  if (!has(key)) fail(key, "missing; needed: " + allowed.str());
  const Json& value = *member(value_, key);
  if (!value.is_number() || value.get<double>() < minimum || value.get<double>() > maximum) {
    fail(key, "found " + found(key) + "; allowed: " + allowed.str());
  }
  return value.get<double>();
}

bool HfObject::boolean_or(std::string_view key, bool fallback) const {
  if (!has(key)) return fallback;
  const Json& value = *member(value_, key);
  if (!value.is_boolean()) fail(key, "found " + found(key) + "; allowed: true or false");
  return value.get<bool>();
}

std::optional<std::string> HfObject::optional_text(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const Json& value = *member(value_, key);
  if (!value.is_string()) fail(key, "found " + found(key) + "; allowed: a text in quotes");
  return value.get<std::string>();
}

std::string HfObject::text(std::string_view key) const {
  auto value = optional_text(key);
  if (!value) fail(key, "missing; needed: a text in quotes");
  return *value;
}

std::optional<HfObject> HfObject::optional_object(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const Json* value = member(value_, key);
  if (!value->is_object()) fail(key, "found " + found(key) + "; allowed: an object");
  return HfObject(document_, value, pointer(key));
}

HfObject HfObject::object(std::string_view key) const {
  auto value = optional_object(key);
  if (!value) fail(key, "missing; needed: an object");
  return *value;
}

std::vector<HfObject> HfObject::objects(std::string_view key) const {
  if (!has(key)) fail(key, "missing; needed: a list of objects");
  const Json& list = *member(value_, key);
  if (!list.is_array()) fail(key, "found " + found(key) + "; allowed: a list of objects");
  std::vector<HfObject> objects;
  for (const Json& element : list) {
    const std::string place = std::string(key) + '/' + std::to_string(objects.size());
    if (!element.is_object()) fail(place, "found " + quote(element) + "; allowed: an object");
    objects.push_back(HfObject(document_, &element, pointer(place)));
  }
  return objects;
}

std::optional<std::vector<std::int64_t>> HfObject::optional_integers(std::string_view key,
                                                                     HfRange range) const {
  if (!has(key)) return std::nullopt;
  const Json& list = *member(value_, key);
  const std::string allowed = "a list, each element " + allowed_range(range);
  if (!list.is_array()) fail(key, "found " + found(key) + "; allowed: " + allowed);
  std::vector<std::int64_t> numbers;
  for (const Json& element : list) {
    const auto number = as_integer(element, range);
    if (!number) {
      fail(std::string(key) + '/' + std::to_string(numbers.size()),
           "found " + quote(element) + "; allowed: " + allowed_range(range));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::int64_t> HfObject::integers(std::string_view key, HfRange range) const {
  auto numbers = optional_integers(key, range);
  if (!numbers) fail(key, "missing; needed: a list, each element " + allowed_range(range));
  return *numbers;
}

std::vector<double> HfObject::numbers(std::string_view key, double minimum, double maximum) const {
  if (!has(key)) fail(key, "missing; needed: a list of numbers");
  const Json& list = *member(value_, key);
  if (!list.is_array()) fail(key, "found " + found(key) + "; allowed: a list of numbers");
  std::vector<double> values;
  for (const Json& element : list) {
    const bool good =
        element.is_number() && element.get<double>() >= minimum && element.get<double>() <= maximum;
    if (!good) {
      std::ostringstream allowed;
      allowed << "a number from " << minimum << " to " << maximum;
      fail(std::string(key) + '/' + std::to_string(values.size()),
           "found " + quote(element) + "; allowed: " + allowed.str());
    }
    values.push_back(element.get<double>());
  }
  return values;
}

std::optional<std::vector<std::string>> HfObject::optional_texts(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const Json& list = *member(value_, key);
  if (!list.is_array()) fail(key, "found " + found(key) + "; allowed: a list of texts");
  std::vector<std::string> texts;
  for (const Json& element : list) {
    if (!element.is_string()) {
      fail(std::string(key) + '/' + std::to_string(texts.size()),
           "found " + quote(element) + "; allowed: a text in quotes");
    }
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

std::vector<std::string> HfObject::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json_of(value_).items()) keys.push_back(key);
  return keys;
}

std::vector<std::string> HfObject::pointers_read() const {
  return {document_->pointers_read.begin(), document_->pointers_read.end()};
}

}  // namespace smtwin

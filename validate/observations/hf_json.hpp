// SPDX-License-Identifier: Apache-2.0
// A JSON file that users bring, read field by field with one-line complaints: file, JSON pointer,
// what was found, what is allowed. Hides the JSON library from the readers of model files.
//
// It also remembers which fields were asked for, so that an override of a field that the reader
// never looks at is an error and not a silent no-op.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smtwin {

struct HfRange {
  std::int64_t minimum = 1;
  std::int64_t maximum = 1;
};

// Keys under which a multimodal config.json keeps its language model; the first there counts.
inline constexpr std::array<const char*, 2> kNestedConfigs{"text_config", "llm_config"};

// A field that the user set instead of the file.
struct HfOverride {
  std::string field;    // as the user wrote it, "num_hidden_layers"
  std::string pointer;  // "/text_config/num_hidden_layers"
  std::string before;   // as JSON text; "absent" where the file had none
  std::string after;
};

struct HfDocument;  // the parsed file

// One JSON object inside a file. "Absent" always includes an explicit null. Copies are cheap and
// share the document.
class HfObject {
 public:
  // Parses a file of which the top is an object. `overrides` are those already in the text
  // (hf_overrides.hpp), so that complaints about them can say so. `pointer_prefix` is where the
  // text sits in its file, "/config", when it is a part of one: complaints begin with it.
  static HfObject parse(const std::string& text, const std::string& file_name,
                        std::vector<HfOverride> overrides = {},
                        const std::string& pointer_prefix = "");

  bool has(std::string_view key) const;
  bool holds_text(std::string_view key) const;
  bool holds_list(std::string_view key) const;
  std::int64_t integer(std::string_view key, HfRange range) const;
  std::optional<std::int64_t> optional_integer(std::string_view key, HfRange range) const;
  std::int64_t integer_or(std::string_view key, std::int64_t fallback, HfRange range) const;
  double number(std::string_view key, double minimum, double maximum) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  std::string text(std::string_view key) const;
  std::optional<std::string> optional_text(std::string_view key) const;
  HfObject object(std::string_view key) const;
  std::optional<HfObject> optional_object(std::string_view key) const;
  std::vector<HfObject> objects(std::string_view key) const;
  // Lists; absent is an error for the plain forms and nullopt for the optional ones.
  std::vector<std::int64_t> integers(std::string_view key, HfRange range) const;
  std::vector<double> numbers(std::string_view key, double minimum, double maximum) const;
  std::optional<std::vector<std::int64_t>> optional_integers(std::string_view key,
                                                             HfRange range) const;
  std::optional<std::vector<std::string>> optional_texts(std::string_view key) const;

  std::vector<std::string> keys() const;  // in file order
  std::string pointer(std::string_view key) const;
  const std::string& file_name() const;
  std::string dump() const;                       // this object as JSON text
  std::string found(std::string_view key) const;  // the value as a message quotes it, shortened

  // DataError "file: /pointer/key: complaint", with "(set by the user)" where an override did it.
  [[noreturn]] void fail(std::string_view key, const std::string& complaint) const;
  // DataError "file: /pointer/key: "value" is not modelled; modelled: ...".
  [[noreturn]] void not_modelled(std::string_view key, const std::string& modelled) const;

  // Pointers of every field of the file that was asked for so far, there or not.
  std::vector<std::string> pointers_read() const;

  // DataError at the first key that is not among `allowed`: a file of another version or with a
  // typing error is refused rather than half understood.
  void expect_keys(const std::vector<std::string>& allowed) const;

 private:
  HfObject(std::shared_ptr<HfDocument> document, const void* value, std::string pointer)
      : document_(std::move(document)), value_(value), pointer_(std::move(pointer)) {}

  std::shared_ptr<HfDocument> document_;
  const void* value_;  // of the JSON library's type
  std::string pointer_;
};

}  // namespace smtwin

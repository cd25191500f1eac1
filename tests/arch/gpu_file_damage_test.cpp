// SPDX-License-Identifier: Apache-2.0
// Damage of every kind at every place of a GPU file: always a DataError of one line that names the
// file, and the place where the damage is at a key. Nothing crashes, nothing passes.
#include <nlohmann/json.hpp>

#include "arch/error.hpp"
#include "arch/gpu_fields.hpp"
#include "arch/gpu_spec_io.hpp"
#include "tests/arch/gpu_test_files.hpp"
#include "tests/catch.hpp"

using namespace smtwin;
using nlohmann::json;
using smtwin::test::message_of;
using smtwin::test::shipped_file;
using smtwin::test::text_of;

namespace {

const std::string kStart = "mine.json: ";

std::string read_error(const std::string& text) {
  return message_of<DataError>([&] { read_gpu_spec(text, "mine.json"); });
}

void require_named(const std::string& message, const std::string& pointer) {
  INFO(message);
  REQUIRE(message.rfind(kStart + pointer, 0) == 0);
  REQUIRE(message.find('\n') == std::string::npos);
}

// Every object of the document, as pointers; "" is the document itself.
std::vector<json::json_pointer> objects_of(const json& document) {
  std::vector<json::json_pointer> found;
  std::vector<json::json_pointer> open{json::json_pointer("")};
  while (!open.empty()) {
    const json::json_pointer pointer = open.back();
    open.pop_back();
    if (!document.at(pointer).is_object()) continue;
    found.push_back(pointer);
    for (const auto& [key, value] : document.at(pointer).items()) open.push_back(pointer / key);
  }
  return found;
}

const json& sample() {
  static const json document = json::parse(text_of(shipped_file("h200-sxm")));
  return document;
}

}  // namespace

TEST_CASE("each key is needed", "[property]") {
  int deleted = 0;
  for (const json::json_pointer& object : objects_of(sample())) {
    for (const auto& [key, value] : sample().at(object).items()) {
      if (key == "note") continue;  // the one optional key
      json damaged = sample();
      damaged.at(object).erase(key);
      require_named(read_error(damaged.dump()), (object / key).to_string() + ": missing");
      ++deleted;
    }
  }
  // 6 of the head, 2 groups, and per field the entry with its three keys.
  CHECK(deleted == 8 + 4 * static_cast<int>(gpu_fields().size()));
}

TEST_CASE("no object takes another key", "[property]") {
  for (const json::json_pointer& object : objects_of(sample())) {
    json damaged = sample();
    damaged.at(object)["extra_key"] = 1;
    require_named(read_error(damaged.dump()), (object / "extra_key").to_string() + ": unknown key");
  }
}

TEST_CASE("no number can be a text, negative, huge, or of another kind", "[property]") {
  for (const GpuField& field : gpu_fields()) {
    const FieldKey key = field_key(field.path);
    json::json_pointer entry = key.group.empty() ? json::json_pointer("") / key.key
                                                 : json::json_pointer("") / key.group / key.key;
    const json::json_pointer value = entry / "value";
    INFO(value.to_string());
    std::vector<json> wrong{"64K", "12", "", "null", true, json::object(), -1, -0.5, 1e300};
    if (field.kind != FieldKind::real) wrong.insert(wrong.end(), {1.5, 65536.0, 99999999999});
    if (field.kind == FieldKind::integer_list) {
      wrong = {"64K", 1, json::object(), {-1}, {"8K"}, {1.5}, {nullptr}, {1e300}};
    } else {
      wrong.push_back(json::array({1}));
    }
    if (!field.nullable) wrong.push_back(nullptr);
    for (const json& bad : wrong) {
      json damaged = sample();
      damaged[value] = bad;
      require_named(read_error(damaged.dump()), value.to_string() + ": expected ");
    }
    // A null where a number was known contradicts its provenance, and the other way round.
    json damaged = sample();
    const bool known = !damaged[value].is_null();
    damaged[entry / "provenance"] = known ? "unknown" : "measured";
    require_named(read_error(damaged.dump()), (entry / "provenance").to_string() + ": ");
  }
}

TEST_CASE("texts that stand for numbers are not JSON numbers", "[property]") {
  const std::string text = text_of(shipped_file("h200-sxm"));
  for (std::size_t at = text.find("\"value\": "); at != std::string::npos;
       at = text.find("\"value\": ", at + 1)) {
    const std::size_t begin = at + 9;
    const std::size_t end = text.find(", \"provenance\"", begin);
    for (const char* bad : {"NaN", "-Infinity", "1e400", "0x10", "+1", "01", "1.", "1,000"}) {
      std::string damaged = text;
      damaged.replace(begin, end - begin, bad);
      INFO(bad << " at byte " << begin);
      require_named(read_error(damaged), "");
    }
  }
}

TEST_CASE("a truncated file says where it ends", "[property]") {
  for (const std::string& name : gpu_names()) {
    const std::string text = text_of(shipped_file(name));
    const std::size_t complete = text.rfind('}') + 1;
    for (std::size_t bytes = 0; bytes < complete; bytes += 97) {
      INFO(name << " cut to " << bytes << " bytes");
      const std::string message = read_error(text.substr(0, bytes));
      require_named(message, "line ");
      REQUIRE(message.find("not valid JSON: ") != std::string::npos);
    }
  }
}

TEST_CASE("a flipped byte never crashes the reader", "[property]") {
  const std::string text = text_of(shipped_file("rtx-pro-6000-server"));
  for (std::size_t at = 0; at < text.size(); at += 13) {
    for (const char with : {'\0', '"', '{', '9', '\xff'}) {
      std::string damaged = text;
      damaged[at] = with;
      const std::string message = read_error(damaged);  // may still be a valid file
      INFO(message);
      REQUIRE((message == "[no error]" || message.rfind(kStart, 0) == 0));
      REQUIRE(message.find('\n') == std::string::npos);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_json.hpp"

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "validate/observations/hf_overrides.hpp"

using namespace smtwin;

namespace {

constexpr HfRange kSmall{.minimum = 1, .maximum = 100};

template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string parse_message(const std::string& text) {
  return message_of([&] { HfObject::parse(text, "config.json"); });
}

std::string patched(const std::string& text, const std::string& setting) {
  std::vector<HfOverride> applied;
  return patch_json(text, "config.json", {setting}, applied);
}

}  // namespace

TEST_CASE("what is no JSON object is one line that says where", "[unit]") {
  CHECK(parse_message("") == "config.json: empty; expected a JSON object");
  CHECK(parse_message(" \n ") == "config.json: empty; expected a JSON object");
  CHECK(parse_message("[1, 2]") == "config.json: found a list of 2; expected a JSON object");
  CHECK(parse_message("{\"a\": 1,\n \"b\": ") ==
        "config.json: line 2, column 7: the JSON text ends early; is the file complete?");
  CHECK(parse_message("{\"a\": NaN}") == "config.json: line 1, column 7: not JSON from here: NaN}");
  CHECK(parse_message("{\"a\": 1e999}") == "config.json: holds a number too large to read");
  CHECK(parse_message("{\"a\": " + std::string(200, '[') + std::string(200, ']') + '}') ==
        "config.json: nested more than 64 deep; a model description is not");
  CHECK(parse_message(std::string(200'000, '[')) ==
        "config.json: nested more than 64 deep; a model description is not");
  CHECK(parse_message("{\"a\xff\": 1}").rfind("config.json: line 1, column ", 0) == 0);
  CHECK(parse_message("{\"a\": \"b\x01\"}").find('\x01') == std::string::npos);
}

TEST_CASE("a field that is missing or wrong names file, pointer, found and allowed", "[unit]") {
  const HfObject root = HfObject::parse(
      R"({"text": "x", "n": 7, "real": 1.5, "big": 99999999999999999999, "list": [1, 200],
          "inner": {"n": "61\nlayers"}, "null": null})",
      "a/config.json");
  CHECK(root.integer("n", kSmall) == 7);
  CHECK(message_of([&] { root.integer("gone", kSmall); }) ==
        "a/config.json: /gone: missing; needed: an integer from 1 to 100");
  CHECK(message_of([&] { root.integer("null", kSmall); }) ==
        "a/config.json: /null: missing; needed: an integer from 1 to 100");
  CHECK(message_of([&] { root.integer("text", kSmall); }) ==
        "a/config.json: /text: found \"x\"; allowed: an integer from 1 to 100");
  CHECK(message_of([&] { root.integer("real", kSmall); }) ==
        "a/config.json: /real: found 1.5; allowed: an integer from 1 to 100");
  CHECK(message_of([&] { root.integer("big", kSmall); }) ==
        "a/config.json: /big: found 1e+20; allowed: an integer from 1 to 100");
  CHECK(message_of([&] { root.integer("n", {.minimum = 8, .maximum = 9}); }) ==
        "a/config.json: /n: found 7; allowed: an integer from 8 to 9");
  CHECK(message_of([&] { root.integers("list", kSmall); }) ==
        "a/config.json: /list/1: found 200; allowed: an integer from 1 to 100");
  CHECK(message_of([&] { root.optional_texts("list"); }) ==
        "a/config.json: /list/0: found 1; allowed: a text in quotes");
  CHECK(message_of([&] { root.boolean_or("n", true); }) ==
        "a/config.json: /n: found 7; allowed: true or false");
  CHECK(message_of([&] { root.object("n"); }) == "a/config.json: /n: found 7; allowed: an object");
  // Line breaks of a value stay out of the message.
  CHECK(message_of([&] { root.object("inner").integer("n", kSmall); }) ==
        "a/config.json: /inner/n: found \"61\\nlayers\"; allowed: an integer from 1 to 100");
  CHECK_FALSE(root.has("null"));
  CHECK(root.integer_or("null", 5, kSmall) == 5);
}

TEST_CASE("overrides replace, add and reach into nested objects", "[unit]") {
  const std::string flat = R"({"n": 61, "q": {"m": "fp8"}})";
  CHECK(HfObject::parse(patched(flat, "n=4"), "f").integer("n", kSmall) == 4);
  CHECK(HfObject::parse(patched(flat, "model.n=4"), "f").integer("n", kSmall) == 4);
  CHECK(HfObject::parse(patched(flat, "window=8"), "f").integer("window", kSmall) == 8);
  CHECK(HfObject::parse(patched(flat, "q.m=awq"), "f").object("q").text("m") == "awq");
  CHECK_FALSE(HfObject::parse(patched(flat, "q=null"), "f").has("q"));
  CHECK(HfObject::parse(patched(flat, "l=[1,2]"), "f").integers("l", kSmall).size() == 2);

  const std::string nested = R"({"tie": true, "text_config": {"n": 61}})";
  const auto text_of = [&](const std::string& setting) {
    return HfObject::parse(patched(nested, setting), "f").object("text_config");
  };
  CHECK(text_of("n=4").integer("n", kSmall) == 4);
  CHECK(text_of("text_config.n=4").integer("n", kSmall) == 4);
  CHECK(text_of("window=8").integer("window", kSmall) == 8);
  CHECK_FALSE(HfObject::parse(patched(nested, "tie=false"), "f").boolean_or("tie", true));
}

TEST_CASE("an override remembers what it changed, and complaints say who set it", "[unit]") {
  std::vector<HfOverride> applied;
  const std::string text =
      patch_json(R"({"text_config": {"n": 61}})", "config.json", {"n=4000", "m=1"}, applied);
  REQUIRE(applied.size() == 2);
  CHECK(applied[0].field == "n");
  CHECK(applied[0].pointer == "/text_config/n");
  CHECK(applied[0].before == "61");
  CHECK(applied[0].after == "4000");
  CHECK(applied[1].before == "absent");
  const HfObject root = HfObject::parse(text, "config.json", applied);
  CHECK(message_of([&] { root.object("text_config").integer("n", kSmall); }) ==
        "config.json: /text_config/n: found 4000; allowed: an integer from 1 to 100 "
        "(set by the user)");
}

TEST_CASE("an override of a field that was never read is refused", "[unit]") {
  const auto check = [](const std::string& setting) {
    std::vector<HfOverride> applied;
    const HfObject root = HfObject::parse(
        patch_json(R"({"num_hidden_layers": 4, "rope_theta": 1})", "f", {setting}, applied), "f");
    root.integer("num_hidden_layers", kSmall);
    require_overrides_were_read(root, applied);
  };
  CHECK_NOTHROW(check("num_hidden_layers=2"));
  CHECK(message_of([&] { check("num_hiden_layers=2"); }) ==
        "--set model.num_hiden_layers: this kind of model has no such field; did you mean "
        "num_hidden_layers?");
  CHECK(message_of([&] {
          check("rope_theta=2");
        }).rfind("--set model.rope_theta: nothing that is modelled depends on this field", 0) == 0);
  CHECK_THROWS_AS(check("num_hidden_layers"), UsageError);
  CHECK_THROWS_AS(check("=4"), UsageError);
  CHECK_THROWS_AS(check("a..b=4"), UsageError);
  CHECK_THROWS_AS(check("num_hidden_layers.x=4"), UsageError);
}

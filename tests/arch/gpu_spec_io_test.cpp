// SPDX-License-Identifier: Apache-2.0
// GPU files read and written: every shipped file goes round, and every kind of damage to one is
// told in one line that names the file and the place.
#include "arch/gpu_spec_io.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "arch/error.hpp"
#include "arch/gpu_fields.hpp"
#include "tests/arch/gpu_test_files.hpp"
#include "tests/catch.hpp"

using namespace smtwin;
using nlohmann::json;
using smtwin::test::message_of;
using smtwin::test::shipped_file;
using smtwin::test::text_of;

namespace {

std::string read_error(const std::string& text) {
  return message_of<DataError>([&] { read_gpu_spec(text, "mine.json"); });
}

std::string read_error(const json& document) { return read_error(document.dump()); }

json server() { return json::parse(text_of(shipped_file("rtx-pro-6000-server"))); }

// The error of the Server edition's file with one thing changed.
template <typename Change>
std::string error_after(Change&& change) {
  json document = server();
  change(document);
  return read_error(document);
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

TEST_CASE("every shipped file reads, writes itself back and reads equal", "[unit]") {
  const std::vector<std::string> names = gpu_names();
  REQUIRE(names.size() >= 41);
  for (const std::string& name : names) {
    INFO(name);
    const std::string text = text_of(shipped_file(name));
    const GpuSpec gpu = read_gpu_spec(text, "x.json");
    CHECK(gpu.name == name);
    CHECK(write_gpu_spec(gpu) == text);

    const GpuSpec again = read_gpu_spec(write_gpu_spec(gpu), "x.json");
    CHECK(again.display_name == gpu.display_name);
    CHECK(again.aliases == gpu.aliases);
    CHECK(again.notes == gpu.notes);
    CHECK(again.file == gpu.file);
    CHECK(again.compute_capability == gpu.compute_capability);
    for (const GpuField& field : gpu_fields()) {
      INFO(field.path);
      const std::string path(field.path);
      CHECK(field.get(again) == field.get(gpu));
      CHECK(again.sources.at(path).provenance == gpu.sources.at(path).provenance);
      CHECK(again.sources.at(path).source == gpu.sources.at(path).source);
      CHECK(again.sources.at(path).note == gpu.sources.at(path).note);
    }
  }
}

TEST_CASE("numbers keep every bit through a file", "[unit]") {
  GpuSpec gpu = load_gpu_spec(shipped_file("h200-sxm"));
  gpu.dram_read_efficiency = 1.0 / 3.0;
  gpu.l2_bytes_per_s = 5056123456789.125;
  gpu.sm.registers_per_sm = 16777216;
  gpu.display_name = "odd \"name\"\\ with\ttab";
  const GpuSpec again = read_gpu_spec(write_gpu_spec(gpu), "x.json");
  CHECK(*again.dram_read_efficiency == 1.0 / 3.0);
  CHECK(*again.l2_bytes_per_s == 5056123456789.125);
  CHECK(again.sm.registers_per_sm == 16777216);
  CHECK(again.display_name == gpu.display_name);
}

TEST_CASE("an overridden spec can be written and read", "[unit]") {
  GpuSpec gpu = load_gpu_spec(shipped_file("rtx-pro-6000-server"));
  apply_overrides(gpu, {"sm.shared_bytes_per_sm=228KiB"});
  const GpuSpec again = read_gpu_spec(write_gpu_spec(gpu), "x.json");
  CHECK(again.sm.shared_bytes_per_sm == 233472);
  CHECK(provenance_of(again, "sm.shared_bytes_per_sm") == Provenance::overridden);
}

TEST_CASE("field descriptions cover the table in file order", "[unit]") {
  const auto fields = describe_fields(load_gpu_spec(shipped_file("rtx-pro-6000-server")));
  REQUIRE(fields.size() == gpu_fields().size());
  CHECK(fields.front().path == "sm.threads_per_warp");
  for (const FieldInfo& field : fields) {
    INFO(field.path);
    CHECK_FALSE(field.meaning.empty());
    CHECK_FALSE(field.source.source.empty());
    CHECK((field.value == "null") == (field.source.provenance == Provenance::unknown));
  }
  const auto find = [&](const std::string& path) {
    return *std::find_if(fields.begin(), fields.end(),
                         [&](const FieldInfo& field) { return field.path == path; });
  };
  CHECK(find("sm.shared_bytes_per_sm").value == "102400");
  CHECK(find("sm.shared_bytes_per_sm").unit == "B");
  CHECK(find("sm.shared_carveouts_bytes").value == "0, 8192, 16384, 32768, 65536, 102400");
  CHECK(find("nvlink_bytes_per_s").value == "null");
  CHECK(describe_fields(GpuSpec{}).size() == gpu_fields().size());
}

TEST_CASE("messages of a bad value", "[unit]") {
  CHECK(error_after([](json& d) { d["sm"]["registers_per_sm"]["value"] = "64K"; }) ==
        "mine.json: /sm/registers_per_sm/value: expected a positive integer, found \"64K\"; write "
        "65536");
  CHECK(error_after([](json& d) { d["sm"]["registers_per_sm"]["value"] = 1.5; }) ==
        "mine.json: /sm/registers_per_sm/value: expected a positive integer, found 1.5");
  CHECK(error_after([](json& d) { d["sm"]["registers_per_sm"]["value"] = -5; }) ==
        "mine.json: /sm/registers_per_sm/value: expected an integer from 1 to 16777216, found -5");
  CHECK(error_after([](json& d) { d["sm"]["registers_per_sm"]["value"] = UINT64_MAX; }) ==
        "mine.json: /sm/registers_per_sm/value: expected an integer from 1 to 16777216, found "
        "18446744073709551615");
  CHECK(error_after([](json& d) { d["sm"]["registers_per_sm"]["value"] = nullptr; }) ==
        "mine.json: /sm/registers_per_sm/value: expected a positive integer, found null");
  CHECK(error_after([](json& d) { d["dram_read_efficiency"]["value"] = 96.15; }) ==
        "mine.json: /dram_read_efficiency/value: expected a number from 0.001 to 1, found 96.15");
  CHECK(error_after([](json& d) { d["sm_count"] = 188; }) ==
        "mine.json: /sm_count: expected {\"value\": ..., \"provenance\": ..., \"source\": ...}, "
        "found 188");
}

TEST_CASE("messages about keys", "[unit]") {
  CHECK(error_after([](json& d) {
          d["sm"]["register_per_sm"] = d["sm"]["registers_per_sm"];
          d["sm"].erase("registers_per_sm");
        }) == "mine.json: /sm/register_per_sm: unknown key; did you mean registers_per_sm?");
  CHECK(error_after([](json& d) { d["sm"].erase("registers_per_sm"); }) ==
        "mine.json: /sm/registers_per_sm: missing; a GPU file has every key, with value null and "
        "provenance unknown where nobody knows");
  CHECK(error_after([](json& d) {
          d["a/b~\n"] = 1;
        }).find("mine.json: /a~1b~0\\n: unknown key; allowed are schema_version, name") == 0);
  std::string twice = text_of(shipped_file("rtx-pro-6000-server"));
  twice.insert(twice.find("\"registers_per_sm\""), "\"registers_per_sm\": 1, ");
  CHECK(read_error(twice) == "mine.json: /sm/registers_per_sm: key given twice; keep one");
}

TEST_CASE("messages about provenance", "[unit]") {
  CHECK(error_after([](json& d) { d["sm_count"]["provenance"] = "guess"; }) ==
        "mine.json: /sm_count/provenance: unknown provenance \"guess\"; allowed are datasheet, "
        "compiled, measured, fitted, transferred, extrapolated, assumed, override, and unknown "
        "for null");
  CHECK(error_after([](json& d) { d["sm_count"]["provenance"] = "unknown"; }) ==
        "mine.json: /sm_count/provenance: \"unknown\" belongs to the value null; say where 188 "
        "comes from, or \"assumed\"");
  CHECK(error_after([](json& d) { d["sm_count"]["value"] = nullptr; }) ==
        "mine.json: /sm_count/provenance: expected \"unknown\" because the value is null, found "
        "\"datasheet\"");
  CHECK(error_after([](json& d) { d["sm_count"]["source"] = ""; }) ==
        "mine.json: /sm_count/source: expected a text that is not empty, found \"\"");
}

TEST_CASE("messages about the head of a file", "[unit]") {
  CHECK(error_after([](json& d) { d["schema_version"] = 2; }) ==
        "mine.json: /schema_version: expected 1, found 2");
  CHECK(error_after([](json& d) { d["name"] = "RTX 6000"; }) ==
        "mine.json: /name: expected lower-case letters, digits and '-', found \"RTX 6000\"");
  CHECK(error_after([](json& d) { d["aliases"][0] = 7; }) ==
        "mine.json: /aliases/0: expected a text that is not empty, found 7");
  for (const char* bad : {"12", "12.", ".0", "12.0a", "-1.0", "0.1", "12.10", "1e1.0"}) {
    INFO(bad);
    CHECK(error_after([&](json& d) { d["compute_capability"] = bad; }) ==
          std::string("mine.json: /compute_capability: expected major.minor like \"12.0\", found "
                      "\"") +
              bad + "\"");
  }
}

TEST_CASE("messages about fields that contradict each other", "[unit]") {
  CHECK(error_after([](json& d) { d["sm"]["shared_bytes_per_cta_optin"]["value"] = 102400; }) ==
        "mine.json: /sm/shared_bytes_per_cta_optin/value: expected at most 101376 "
        "(sm.shared_bytes_per_sm less sm.shared_bytes_reserved_per_cta), found 102400");
  CHECK(error_after([](json& d) { d["sm"]["shared_bytes_per_cta_default"]["value"] = 101377; }) ==
        "mine.json: /sm/shared_bytes_per_cta_default/value: expected at most 101376 "
        "(sm.shared_bytes_per_cta_optin), found 101377");
  CHECK(error_after([](json& d) {
          d["sm"]["shared_carveouts_bytes"]["value"] = {0, 65536};
        }) ==
        "mine.json: /sm/shared_carveouts_bytes/value: expected ascending sizes that end with "
        "sm.shared_bytes_per_sm (102400), found [0, 65536]");
  CHECK(starts_with(error_after([](json& d) {
                      d["sm"]["shared_carveouts_bytes"]["value"] = {0, 8192, 8192, 102400};
                    }),
                    "mine.json: /sm/shared_carveouts_bytes/value: expected ascending sizes"));
  CHECK(error_after([](json& d) { d["sm"]["shared_carveouts_bytes"]["value"] = json::array(); }) ==
        "mine.json: /sm/shared_carveouts_bytes/value: expected ascending sizes that end with "
        "sm.shared_bytes_per_sm (102400), found []");
  CHECK(error_after([](json& d) {
          d["sm"]["shared_carveouts_bytes"]["value"] = std::vector<int>(17, 1);
        }) == "mine.json: /sm/shared_carveouts_bytes/value: expected at most 16 sizes, found 17");
  CHECK(error_after([](json& d) { d["sm"]["registers_per_cta"]["value"] = 65537; }) ==
        "mine.json: /sm/registers_per_cta/value: expected at most 65536 (sm.registers_per_sm), "
        "found 65537");
  CHECK(error_after([](json& d) { d["sm"]["l1_and_shared_bytes_per_sm"]["value"] = 65536; }) ==
        "mine.json: /sm/shared_bytes_per_sm/value: expected at most 65536 "
        "(sm.l1_and_shared_bytes_per_sm), found 102400");
  CHECK(error_after([](json& d) { d["sm"]["max_threads_per_cta"]["value"] = 1537; }) ==
        "mine.json: /sm/max_threads_per_cta/value: expected at most 1536 (sm.max_warps_per_sm x "
        "sm.threads_per_warp), found 1537");
}

TEST_CASE("text that is not JSON is told by position", "[unit]") {
  CHECK(read_error(std::string()) ==
        "mine.json: line 1, column 1 (byte 0): not valid JSON: unexpected end of input");
  CHECK(read_error(std::string("{\n  \"name\": NaN\n}")) ==
        "mine.json: line 2, column 11 (byte 12): not valid JSON: invalid literal");
  CHECK(read_error(std::string("[1, 2]")) ==
        "mine.json: /: expected an object with the fields of a GPU, found a list");
  CHECK(starts_with(read_error(std::string("\x7f"
                                           "ELF\x02\x01\0\0",
                                           8)),
                    "mine.json: line 1, column 1 (byte 0): not valid JSON: "));
  CHECK(starts_with(read_error(std::string(100000, '[')), "mine.json: line 1, column 100001 "));
  CHECK(read_error(std::string("{\"l2_bytes\": {\"value\": 1e400}}")) ==
        "mine.json: /l2_bytes/value: number too large for any field");
  CHECK(load_gpu_spec(shipped_file("t4")).file == shipped_file("t4"));
  CHECK(message_of<DataError>([] { load_gpu_spec("no/such.json"); }) ==
        "no/such.json: cannot be read; check the path and its permissions");
  CHECK(message_of<DataError>([] { load_gpu_spec("/"); }) == "/: is a folder; expected a GPU file");
  CHECK(message_of<DataError>([] { load_gpu_spec("/dev/zero"); }) ==
        "/dev/zero: larger than 4 MiB; not a GPU file");
}

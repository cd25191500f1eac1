// SPDX-License-Identifier: Apache-2.0
// --set on a GPU: what the user asked for, what must follow it, and what is refused.
#include <algorithm>

#include "arch/error.hpp"
#include "arch/gpu_fields.hpp"
#include "arch/gpu_spec_io.hpp"
#include "tests/arch/gpu_test_files.hpp"
#include "tests/catch.hpp"

using namespace smtwin;
using smtwin::test::message_of;
using smtwin::test::shipped_file;

namespace {

GpuSpec gpu_named(const std::string& name) { return load_gpu_spec(shipped_file(name)); }

std::string set_error(const std::vector<std::string>& settings,
                      const std::string& name = "rtx-pro-6000-server") {
  GpuSpec gpu = gpu_named(name);
  const std::string before = write_gpu_spec(gpu);
  const std::string message = message_of<UsageError>([&] { apply_overrides(gpu, settings); });
  CHECK(write_gpu_spec(gpu) == before);  // refused as a whole
  return message;
}

std::vector<std::int64_t> carveouts(const GpuSpec& gpu) {
  const auto first = gpu.sm.shared_carveouts_bytes.begin();
  return {first, first + gpu.sm.shared_carveout_count};
}

}  // namespace

TEST_CASE("what if SM120 had 228 KiB", "[unit]") {
  GpuSpec gpu = gpu_named("rtx-pro-6000-server");
  const auto applied = apply_overrides(gpu, {"sm.shared_bytes_per_sm=228KiB"});
  // 228 x 1024 = 233,472; less the reserve of 1,024 = 232,448; the L1 keeps the 131,072 - 102,400
  // = 28,672 B that were its own, 233,472 + 28,672 = 262,144: the figures of Hopper.
  CHECK(gpu.sm.shared_bytes_per_sm == 233472);
  CHECK(gpu.sm.shared_bytes_per_cta_optin == 232448);
  CHECK(gpu.sm.shared_bytes_per_cta_default == 49152);
  CHECK(gpu.sm.l1_and_shared_bytes_per_sm == 262144);
  CHECK(carveouts(gpu) == std::vector<std::int64_t>{0, 8192, 16384, 32768, 65536, 102400, 233472});

  REQUIRE(applied.size() == 4);
  CHECK(applied[0].path == "sm.shared_bytes_per_sm");
  CHECK(applied[0].before == "102400");
  CHECK(applied[0].after == "233472");
  CHECK(applied[0].reason.empty());
  CHECK(applied[1].path == "sm.shared_carveouts_bytes");
  CHECK(applied[1].reason == "follows sm.shared_bytes_per_sm: it is the largest carveout");
  CHECK(applied[2].path == "sm.l1_and_shared_bytes_per_sm");
  CHECK(applied[2].reason ==
        "follows sm.shared_bytes_per_sm: keeps 28672 B that only the L1 can use");
  CHECK(applied[3].path == "sm.shared_bytes_per_cta_optin");
  CHECK(applied[3].after == "232448");
  for (const AppliedOverride& one : applied) {
    CHECK(provenance_of(gpu, one.path) == Provenance::overridden);
  }
  CHECK(provenance_of(gpu, "sm.registers_per_sm") == Provenance::datasheet);
}

TEST_CASE("less shared memory cuts the carveouts and keeps the unified L1", "[unit]") {
  GpuSpec gpu = gpu_named("rtx-pro-6000-server");
  apply_overrides(gpu, {"sm.shared_bytes_per_sm=40KiB"});
  CHECK(carveouts(gpu) == std::vector<std::int64_t>{0, 8192, 16384, 32768, 40960});
  CHECK(gpu.sm.shared_bytes_per_cta_optin == 39936);    // 40,960 - 1,024
  CHECK(gpu.sm.shared_bytes_per_cta_default == 39936);  // was 49,152
  CHECK(gpu.sm.l1_and_shared_bytes_per_sm == 131072);
}

TEST_CASE("where the L1 is separate, there is one carveout and no opt-in", "[unit]") {
  GpuSpec gpu = gpu_named("sm-61");
  const auto applied = apply_overrides(gpu, {"sm.shared_bytes_per_sm=128KiB"});
  CHECK(applied.size() == 2);
  CHECK(carveouts(gpu) == std::vector<std::int64_t>{131072});
  CHECK(gpu.sm.shared_bytes_per_cta_optin == 49152);
  CHECK(gpu.sm.l1_and_shared_bytes_per_sm == 0);
}

TEST_CASE("a field the user sets does not follow", "[unit]") {
  GpuSpec gpu = gpu_named("rtx-pro-6000-server");
  const auto applied = apply_overrides(
      gpu, {"sm.shared_bytes_per_sm=228KiB", "sm.shared_bytes_per_cta_optin=163KiB",
            "sm.shared_carveouts_bytes=0:100KiB:228KiB", "sm.l1_and_shared_bytes_per_sm=256KiB"});
  CHECK(applied.size() == 4);
  CHECK(std::all_of(applied.begin(), applied.end(),
                    [](const AppliedOverride& one) { return one.reason.empty(); }));
  CHECK(gpu.sm.shared_bytes_per_cta_optin == 166912);
  CHECK(carveouts(gpu) == std::vector<std::int64_t>{0, 102400, 233472});
}

TEST_CASE("other fields that follow", "[unit]") {
  GpuSpec slots = gpu_named("rtx-pro-6000-server");
  apply_overrides(slots, {"sm.max_ctas_per_sm=32"});
  CHECK(slots.sm.barriers_per_sm == 32);  // one a slot on this chip
  GpuSpec hopper = gpu_named("h200-sxm");
  apply_overrides(hopper, {"sm.max_ctas_per_sm=24"});
  CHECK(hopper.sm.barriers_per_sm == 48);  // two a slot

  GpuSpec registers = gpu_named("h200-sxm");
  apply_overrides(registers, {"sm.registers_per_sm=32768"});
  CHECK(registers.sm.registers_per_cta == 32768);
  apply_overrides(registers, {"sm.registers_per_sm=131072"});
  CHECK(registers.sm.registers_per_cta == 32768);  // more registers force nothing

  GpuSpec partitions = gpu_named("h200-sxm");
  apply_overrides(partitions, {"sm.partitions_per_sm=2"});
  CHECK(partitions.sm.register_check_partitions == 2);
  GpuSpec pascal = gpu_named("sm-60");
  apply_overrides(pascal, {"sm.partitions_per_sm=1"});
  CHECK(pascal.sm.register_check_partitions == 4);  // is its own number there

  GpuSpec warps = gpu_named("h200-sxm");
  apply_overrides(warps, {"sm.max_warps_per_sm=16"});
  CHECK(warps.sm.max_threads_per_cta == 512);

  GpuSpec reserve = gpu_named("h200-sxm");
  apply_overrides(reserve, {"sm.shared_bytes_reserved_per_cta=0"});
  CHECK(reserve.sm.shared_bytes_per_cta_optin == 233472);

  GpuSpec clusters = gpu_named("h200-sxm");
  apply_overrides(clusters, {"sm.max_cluster_ctas_portable=32"});
  CHECK(clusters.sm.max_cluster_ctas_nonportable == 32);
}

TEST_CASE("values take the units of their field", "[unit]") {
  GpuSpec gpu = gpu_named("rtx-pro-6000-server");
  apply_overrides(gpu, {"sm_clock_hz=2.1GHz", "dram_bytes_per_s = 1792GB/s", "dram_bytes=72GB",
                        "graph_node_gap_s=0.5us", "board_power_w=450W", "l2_bytes=64MiB",
                        "rates.sfu_ops_per_cycle=32", "dram_read_efficiency=1"});
  CHECK(*gpu.sm_clock_hz == Approx(2.1e9));
  CHECK(*gpu.dram_bytes_per_s == Approx(1.792e12));
  CHECK(*gpu.dram_bytes == Approx(72e9));
  CHECK(*gpu.graph_node_gap_s == Approx(0.5e-6));
  CHECK(*gpu.board_power_w == 450);
  CHECK(*gpu.l2_bytes == 67108864);
  CHECK(*gpu.rates.sfu_ops_per_cycle == 32);
  CHECK(*gpu.dram_read_efficiency == 1);
}

TEST_CASE("a field nobody knew can be supplied", "[unit]") {
  GpuSpec gpu = gpu_named("sm-120");
  REQUIRE_FALSE(gpu.sm_count.has_value());
  const auto applied = apply_overrides(gpu, {"sm_count=84"});
  CHECK(gpu.sm_count == 84);
  CHECK(applied[0].before == "null");
}

TEST_CASE("short paths", "[unit]") {
  GpuSpec gpu = gpu_named("rtx-pro-6000-server");
  CHECK(apply_overrides(gpu, {"registers_per_sm=65536"})[0].path == "sm.registers_per_sm");
  CHECK(is_gpu_field("sm.registers_per_sm"));
  CHECK(is_gpu_field("registers_per_sm"));
  CHECK(is_gpu_field("sm_count"));
  CHECK(is_gpu_field("allreduce_alpha_s_8"));
  for (const char* other : {"sm", "rates", "", "name", "block_h", "sm.", "registers"}) {
    CHECK_FALSE(is_gpu_field(other));
  }
  // Every field by its path, and by its last part, since those are all different.
  for (const GpuField& field : gpu_fields()) {
    CHECK(find_gpu_field(field.path) == &field);
    CHECK(find_gpu_field(field_key(field.path).key) == &field);
  }
}

TEST_CASE("refused settings say what is allowed", "[unit]") {
  CHECK(set_error({"sm.shared_byte_per_sm=1"}) ==
        "--set sm.shared_byte_per_sm: no such field of a GPU; did you mean "
        "sm.shared_bytes_per_sm?");
  CHECK(set_error({"xyzzy=1"}) ==
        "--set xyzzy: no such field of a GPU; smtwin gpus NAME lists all");
  CHECK(set_error({"sm_count"}) ==
        "--set sm_count: expected path=value, for example sm.shared_bytes_per_sm=228KiB");
  CHECK(set_error({"sm.registers_per_sm=64K"}) ==
        "--set sm.registers_per_sm: expected an integer from 1 to 16777216, found \"64K\" (takes a "
        "plain number without unit); write 65536");
  CHECK(set_error({"sm.shared_bytes_per_sm=228K"}) ==
        "--set sm.shared_bytes_per_sm: expected an integer from 1 to 67108864, found \"228K\" "
        "(unknown unit; known are B, kB, MB, GB, TB, KiB, MiB, GiB); write 233472");
  CHECK(set_error({"sm.registers_per_sm=1.5"}) ==
        "--set sm.registers_per_sm: expected an integer from 1 to 16777216, found \"1.5\"");
  CHECK(set_error({"sm.registers_per_sm=0"}) ==
        "--set sm.registers_per_sm: expected an integer from 1 to 16777216, found 0");
  for (const char* bad : {"", "nan", "inf", "-1", "1e400", "0x10", "null", "12 SMs", "1e30"}) {
    INFO(bad);
    CHECK(set_error({std::string("sm_count=") + bad})
              .find("--set sm_count: expected an integer from 1 to 100000, found ") == 0);
  }
  CHECK(set_error({"sm_count=4", "sm_count=5"}) == "--set sm_count: given twice; keep one");
  CHECK(set_error({"sm.shared_bytes_per_cta_optin=200KiB"}) ==
        "--set: sm.shared_bytes_per_cta_optin: expected at most 101376 (sm.shared_bytes_per_sm "
        "less sm.shared_bytes_reserved_per_cta), found 204800; set these fields together");
  CHECK(set_error({"sm.shared_bytes_per_sm=1KiB"}) ==
        "--set: sm.shared_bytes_per_cta_optin would follow (follows sm.shared_bytes_per_sm less "
        "the reserve of 1024 B) and become 0, outside an integer from 1 to 67108864; set it in "
        "the same call");
  CHECK(set_error({"sm.shared_carveouts_bytes=8KiB,0,100KiB"})
            .find("--set: sm.shared_carveouts_bytes: expected ascending sizes") == 0);
  CHECK(set_error({"sm.shared_carveouts_bytes=0,,100KiB"})
            .find("--set sm.shared_carveouts_bytes: expected integers from 0") == 0);
}

TEST_CASE("a good setting beside a bad one changes nothing", "[unit]") {
  set_error({"sm_count=4", "no_such_field=1"});
  GpuSpec gpu = gpu_named("t4");
  CHECK(apply_overrides(gpu, {}).empty());
}

TEST_CASE("any single resize leaves a consistent chip", "[property]") {
  // Whatever one size becomes, the result either passes every rule (it can be written and read) or
  // is refused; nothing in between.
  for (const char* name : {"sm-35", "sm-60", "t4", "v100-sxm", "rtx-pro-6000-server", "h200-sxm"}) {
    for (const GpuField& field : gpu_fields()) {
      if (!field.path.starts_with("sm.") || field.kind == FieldKind::integer_list) continue;
      for (const char* value : {"1", "2", "3", "32", "48", "1024", "4096", "65536", "1048576"}) {
        GpuSpec gpu = gpu_named(name);
        const std::string setting = std::string(field.path) + "=" + value;
        INFO(name << " " << setting);
        const std::string message =
            message_of<UsageError>([&] { apply_overrides(gpu, {setting}); });
        REQUIRE((message == "[no error]" || message.rfind("--set", 0) == 0));
        REQUIRE_NOTHROW(read_gpu_spec(write_gpu_spec(gpu), "x.json"));
      }
    }
  }
}

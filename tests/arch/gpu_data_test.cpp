// SPDX-License-Identifier: Apache-2.0
// The numbers in data/gpus: SM limits agree between a product and its compute capability, and the
// figures of SM120 and a few others are those of the documents.
#include <cmath>

#include "arch/gpu_fields.hpp"
#include "arch/gpu_spec_io.hpp"
#include "arch/units.hpp"
#include "tests/arch/gpu_test_files.hpp"
#include "tests/catch.hpp"

using namespace smtwin;
using smtwin::test::shipped_file;
using smtwin::test::text_of;

namespace {

GpuSpec gpu_named(const std::string& name) { return load_gpu_spec(shipped_file(name)); }

std::string generic_name(ComputeCapability cc) {
  std::string name = architecture_name(cc);
  name[2] = '-';
  return name;
}

}  // namespace

TEST_CASE("a product has the SM limits of its compute capability", "[unit]") {
  for (const std::string& name : gpu_names()) {
    const GpuSpec gpu = gpu_named(name);
    const GpuSpec generic = gpu_named(generic_name(gpu.compute_capability));
    for (const GpuField& field : gpu_fields()) {
      if (!field.path.starts_with("sm.")) continue;
      INFO(name << " " << field.path);
      CHECK(field.get(gpu) == field.get(generic));
    }
  }
}

TEST_CASE("a compute capability has no product figures", "[unit]") {
  for (const std::string& name : gpu_names()) {
    if (!name.starts_with("sm-")) continue;
    const GpuSpec gpu = gpu_named(name);
    INFO(name);
    CHECK(generic_name(gpu.compute_capability) == name);
    for (const GpuField& field : gpu_fields()) {
      const bool product = field_key(field.path).group.empty();
      if (product) CHECK(field_text(field.get(gpu)) == "null");
    }
  }
}

TEST_CASE("the compute capabilities of the occupancy calculator are all there", "[unit]") {
  for (const char* name :
       {"sm-35",  "sm-37",  "sm-50",  "sm-52",  "sm-53",  "sm-60", "sm-61", "sm-62",
        "sm-70",  "sm-72",  "sm-75",  "sm-80",  "sm-86",  "sm-87", "sm-89", "sm-90",
        "sm-100", "sm-101", "sm-103", "sm-110", "sm-120", "sm-121"}) {
    INFO(name);
    CHECK(gpu_named(name).name == name);
  }
}

TEST_CASE("SM120 as documented", "[unit]") {
  for (const char* name : {"rtx-pro-6000-server", "rtx-5090", "gb10", "sm-120"}) {
    const SmSpec sm = gpu_named(name).sm;
    CHECK(sm.max_warps_per_sm == 48);
    CHECK(sm.max_ctas_per_sm == 24);
    CHECK(sm.registers_per_sm == 65536);
    CHECK(sm.shared_bytes_per_sm == 102400);
    CHECK(sm.shared_bytes_per_cta_default == 49152);
    CHECK(sm.shared_bytes_per_cta_optin == 101376);
    CHECK(sm.shared_bytes_reserved_per_cta == 1024);
    CHECK(sm.l1_and_shared_bytes_per_sm == 131072);
    CHECK(sm.barriers_per_sm == 24);
    CHECK(sm.virtual_resources_per_sm == 128);
  }
  const SmSpec sm = gpu_named("sm-120").sm;

  // Dynamic bytes that let k CTAs share an SM: an equal share rounded down to the unit of 128,
  // less the reserve. k = 2: 102,400 / 2 = 51,200, less 1,024 = 50,176. k = 3: 34,133 -> 34,048,
  // less 1,024 = 33,024. k = 6: 17,066 -> 17,024, less 1,024 = 16,000.
  const auto dynamic_bytes = [&](std::int64_t ctas) {
    const std::int64_t unit = sm.shared_allocation_unit_bytes;
    return sm.shared_bytes_per_sm / ctas / unit * unit - sm.shared_bytes_reserved_per_cta;
  };
  CHECK(dynamic_bytes(1) == sm.shared_bytes_per_cta_optin);
  CHECK(dynamic_bytes(2) == 50176);
  CHECK(dynamic_bytes(3) == 33024);
  CHECK(dynamic_bytes(6) == 16000);
  CHECK(dynamic_bytes(24) == 3200);

  // Registers per thread that let W warps be resident, W/4 in each partition of 16,384 registers:
  // W = 12: 16,384 / 3 = 5,461 -> 5,376 (21 units of 256), / 32 lanes = 168.
  // W = 28: 16,384 / 7 = 2,340 -> 2,304 / 32 = 72. W = 48: 16,384 / 12 = 1,365 -> 1,280 / 32 = 40.
  const auto registers = [&](std::int32_t warps) {
    const std::int32_t partition = sm.registers_per_sm / sm.partitions_per_sm;
    const std::int32_t unit = sm.register_allocation_unit;
    return partition / (warps / sm.partitions_per_sm) / unit * unit / sm.threads_per_warp;
  };
  CHECK(registers(12) == 168);
  CHECK(registers(16) == 128);
  CHECK(registers(28) == 72);
  CHECK(registers(48) == 40);
}

TEST_CASE("limits of other chips that differ in their own way", "[unit]") {
  CHECK(gpu_named("sm-37").sm.registers_per_sm == 131072);
  CHECK(gpu_named("sm-37").sm.registers_per_cta == 65536);
  CHECK(gpu_named("sm-52").sm.registers_per_cta == 65536);
  CHECK(gpu_named("sm-53").sm.registers_per_cta == 32768);
  CHECK(gpu_named("sm-60").sm.partitions_per_sm == 2);
  CHECK(gpu_named("sm-60").sm.register_check_partitions == 4);
  CHECK(gpu_named("sm-61").sm.max_registers_per_thread == 255);
  CHECK(gpu_named("sm-75").sm.max_registers_per_thread == 256);
  CHECK(gpu_named("sm-75").sm.max_warps_per_sm == 32);
  CHECK(gpu_named("sm-86").sm.max_ctas_per_sm == 16);
  CHECK(gpu_named("sm-87").sm.shared_bytes_per_sm == 167936);
  CHECK(gpu_named("sm-89").sm.max_ctas_per_sm == 24);
  CHECK(gpu_named("sm-89").sm.barriers_per_sm == 0);
  CHECK(gpu_named("sm-90").sm.barriers_per_sm == 64);
  CHECK(gpu_named("sm-90").sm.virtual_resources_per_sm == 0);
  CHECK(gpu_named("sm-110").sm.barriers_per_sm == 24);
}

TEST_CASE("rates times clock give the published figures", "[unit]") {
  // 188 SMs x 1,024 flop x 2.43 GHz = 467.8 TFLOPS BF16; 4,096 -> 1,871 TFLOPS FP4.
  const GpuSpec server = gpu_named("rtx-pro-6000-server");
  const auto tera = [](const GpuSpec& gpu, std::optional<double> rate) {
    return *gpu.sm_count * *rate * *gpu.sm_clock_hz / 1e12;
  };
  CHECK(tera(server, server.rates.tensor_bf16_flops_per_cycle) == Approx(467.8).epsilon(0.001));
  CHECK(tera(server, server.rates.tensor_nvfp4_flops_per_cycle) == Approx(1871.2).epsilon(0.001));
  const GpuSpec geforce = gpu_named("rtx-5090");
  CHECK(tera(geforce, geforce.rates.tensor_bf16_flops_per_cycle) == Approx(209.5).epsilon(0.001));
  CHECK(tera(geforce, geforce.rates.tensor_fp8_flops_per_cycle) == Approx(419).epsilon(0.001));
  CHECK(tera(geforce, geforce.rates.fp32_flops_per_cycle) == Approx(104.8).epsilon(0.001));
  const GpuSpec ampere = gpu_named("a100-80gb-sxm");
  CHECK(tera(ampere, ampere.rates.tensor_bf16_flops_per_cycle) == Approx(312).epsilon(0.001));
  CHECK(tera(ampere, ampere.rates.fp32_flops_per_cycle) == Approx(19.5).epsilon(0.002));
  const GpuSpec hopper = gpu_named("h100-sxm");
  CHECK(tera(hopper, hopper.rates.tensor_bf16_flops_per_cycle) == Approx(989).epsilon(0.001));
  const GpuSpec turing = gpu_named("t4");
  CHECK(tera(turing, turing.rates.tensor_int8_flops_per_cycle) == Approx(130).epsilon(0.005));
  CHECK(tera(turing, turing.rates.fp32_flops_per_cycle) == Approx(8.1).epsilon(0.01));
}

TEST_CASE("what is known of the Server edition, and its doubts", "[unit]") {
  const GpuSpec gpu = gpu_named("rtx-pro-6000-server");
  CHECK(gpu.sm_count == 188);
  CHECK(*gpu.dram_bytes == 97887.0 * 1048576);
  CHECK(*gpu.dram_bytes_per_s == 12481e6 * 2 * 64);  // clock x 2 transfers x 64 B
  CHECK(*gpu.dram_read_efficiency == Approx(1536e9 / (12481e6 * 128)).epsilon(0.0001));
  CHECK(provenance_of(gpu, "dram_read_efficiency") == Provenance::measured);
  CHECK(provenance_of(gpu, "allreduce_alpha_s_8") == Provenance::fitted);
  CHECK(provenance_of(gpu_named("rtx-pro-6000-max-q"), "allreduce_alpha_s_8") ==
        Provenance::transferred);
  const auto mentions = [&](const char* text) {
    return std::any_of(gpu.notes.begin(), gpu.notes.end(), [&](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  };
  CHECK(mentions("1792"));
  CHECK(mentions("tuning guide"));
}

TEST_CASE("data/SCHEMA.md describes every field as the table does", "[unit]") {
  const std::string schema = text_of(std::string(SMTWIN_TEST_SOURCE_DIR) + "/data/SCHEMA.md");
  for (const FieldInfo& field : describe_fields(GpuSpec{})) {
    const std::string row = "| " + field.path + " | " + (field.unit.empty() ? "-" : field.unit) +
                            " | " + field.meaning + " |";
    INFO(row);
    CHECK(schema.find(row) != std::string::npos);
  }
}

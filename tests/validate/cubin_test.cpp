// SPDX-License-Identifier: Apache-2.0
// Machine code of tests/fixtures/machine_code/kernels.cu against what ptxas -v (registers, stack,
// shared bytes, barriers) and nvdisasm (instructions, counted by hand) say of the same file.
#include "validate/observations/cubin.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "validate/observations/fatbin.hpp"
#include "validate/observations/sass_groups.hpp"

namespace {

using namespace smtwin;

const std::string kFolder = SMTWIN_TEST_SOURCE_DIR "/tests/fixtures/machine_code/";

MachineCode fixture() {
  static const auto file = read_binary_file(kFolder + "kernels.fatbin");
  return read_machine_code(file, "kernels.fatbin");
}

const CubinKernel& kernel(const Cubin& cubin, const std::string& symbol) {
  const auto found = std::find_if(cubin.kernels.begin(), cubin.kernels.end(),
                                  [&](const CubinKernel& k) { return k.symbol == symbol; });
  REQUIRE(found != cubin.kernels.end());
  return *found;
}

// An instruction is told by its low word; the rest does not matter here.
std::vector<std::byte> code_of(const std::vector<std::uint64_t>& low_words) {
  std::vector<std::byte> code(low_words.size() * kSassInstructionBytes);
  for (std::size_t i = 0; i < low_words.size(); ++i) {
    std::memcpy(code.data() + i * kSassInstructionBytes, &low_words[i], sizeof low_words[i]);
  }
  return code;
}

}  // namespace

TEST_CASE("what ptxas said of each kernel is in its cubin", "[oracle]") {
  const MachineCode code = fixture();
  REQUIRE(code.cubins.size() == 2);
  CHECK(code.ptx == 1);
  CHECK(code.compressed_cubins == 0);
  const Cubin& hopper = code.cubins[0];
  const Cubin& blackwell = code.cubins[1];
  CHECK(hopper.target == ComputeCapability{9, 0});
  CHECK(blackwell.target == ComputeCapability{12, 0});
  CHECK(hopper.compiler == "ptxas 13.0.88");
  CHECK(hopper.options == "-arch sm_90a -m 64");
  CHECK(hopper.kernels.size() == 3);

  // "Used 16 registers, used 1 barriers, 400 bytes smem"; sm_120a: 13 registers.
  const auto& shared = kernel(hopper, "fixture_shared");
  CHECK(shared.registers_per_thread == 16);
  CHECK(kernel(blackwell, "fixture_shared").registers_per_thread == 13);
  CHECK(shared.static_shared_bytes == 400);
  CHECK(kernel(blackwell, "fixture_shared").static_shared_bytes == 400);
  CHECK(shared.reserved_shared_bytes == 1024);
  CHECK(shared.barriers == 1);
  CHECK(shared.max_threads_per_cta == 256);
  CHECK(shared.stack_bytes == 0);

  // sm_90a: "80 bytes stack frame, 80 bytes spill stores": 20 registers once each. sm_120a: 88
  // bytes of stack, 84 of spills: 21 registers.
  const auto& spill = kernel(hopper, "fixture_spill");
  CHECK(spill.registers_per_thread == 64);
  CHECK(spill.stack_bytes == 80);
  CHECK(spill.spill_stores() == 20);
  CHECK(spill.spill_loads() == 20);
  CHECK(spill.max_threads_per_cta == 1024);
  CHECK(spill.barriers == 0);
  CHECK(kernel(blackwell, "fixture_spill").stack_bytes == 88);
  CHECK(kernel(blackwell, "fixture_spill").spill_stores() == 21);

  // Only dynamic shared memory: nothing static, though the section has the reserved 1,024 bytes.
  const auto& mma = kernel(hopper, "fixture_mma");
  CHECK(mma.registers_per_thread == 18);
  CHECK(mma.static_shared_bytes == 0);
  CHECK(mma.barriers == 4);  // "bar.sync 3" takes 0 to 3
  CHECK(mma.max_threads_per_cta == 128);
}

TEST_CASE("instructions are counted by what they do", "[oracle]") {
  const MachineCode code = fixture();
  for (const Cubin& cubin : code.cubins) {
    const auto& mma = kernel(cubin, "fixture_mma");
    CHECK(mma.count("mma") == 2);
    CHECK(mma.count("ldmatrix") == 1);
    CHECK(mma.count("sfu") == 1);
    CHECK(mma.count("barrier") == 1);
    CHECK(mma.count("global_load") == 4);
    CHECK(mma.count("global_store") == 1);
    CHECK(mma.count("cp_async") == 0);
    CHECK(mma.count("all") == 26);
    const auto& shared = kernel(cubin, "fixture_shared");
    CHECK(shared.count("cp_async") == 1);
    CHECK(shared.count("fma") == 1);
    CHECK(shared.count("shared_store") == 1);
    // The row loop is a loop: its 64 multiply-adds are there once.
    CHECK(kernel(cubin, "fixture_spill").count("fma") == 64);
  }
}

TEST_CASE("operand forms of one operation are one group, NOP is none", "[unit]") {
  // FFMA with three registers, with an immediate, with a constant; HMMA; NOP; LDL under a
  // predicate.
  const auto code = code_of({0x0000000402077223, 0x3f80000002077423, 0x0000840002077a23,
                             0x000000040208723c, 0x0000000000007918, 0x0000000001078983});
  const auto counts = count_sass_groups(code, {9, 0});
  CHECK(counts.at("all") == 5);
  CHECK(counts.at("fma") == 3);
  CHECK(counts.at("mma") == 1);
  CHECK(counts.at("local_load") == 1);
  CHECK(counts.size() == 4);
  // Operation 0x035 multiplies halves on sm_90 and adds integers on sm_120.
  const auto shared_number = code_of({0x0000000402077435});
  CHECK(count_sass_groups(shared_number, {9, 0}).count("half_math") == 1);
  CHECK(count_sass_groups(shared_number, {12, 0}).count("half_math") == 0);
  // 0x04a multiplies a pair on sm_100 and compares integers on sm_120.
  const auto pair = code_of({0x000000040207724a});
  CHECK(count_sass_groups(pair, {10, 0}).count("add_mul") == 1);
  CHECK(count_sass_groups(pair, {12, 0}).count("add_mul") == 0);
  CHECK(count_sass_groups(Bytes(code).first(15), {9, 0}).empty());
}

TEST_CASE("compressed code is counted, other files are refused by name", "[unit]") {
  const auto file = read_binary_file(kFolder + "kernels_compressed.fatbin");
  const MachineCode code = read_machine_code(file, "kernels_compressed.fatbin");
  CHECK(code.cubins.empty());
  CHECK(code.compressed_cubins == 2);
  const auto entries = read_fatbin(file, "kernels_compressed.fatbin");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].compression == FatbinCompression::zstd);
  CHECK(entries[2].target == ComputeCapability{12, 0});

  const auto text = read_binary_file(kFolder + "kernels.cu");
  CHECK_THROWS_WITH(read_machine_code(text, "kernels.cu"), "kernels.cu: not an ELF file");
  const auto program = read_binary_file("/proc/self/exe");
  CHECK_THROWS_WITH(read_cubin(program, "test"), "test: an ELF file, but not a cubin");
  CHECK(read_machine_code(program, "test").cubins.empty());
  CHECK_THROWS_AS(read_binary_file(kFolder + "absent"), DataError);
}

TEST_CASE("a damaged file is refused or read, never trusted", "[property]") {
  const auto whole = read_binary_file(kFolder + "kernels.fatbin");
  const auto cubin = read_fatbin(whole, "fixture").at(0).image;
  const std::vector<std::byte> images[] = {whole, {cubin.begin(), cubin.end()}};
  std::mt19937_64 random(20260829);
  long refused = 0;
  const auto read = [&](const std::vector<std::byte>& damaged) {
    try {
      read_machine_code(damaged, "damaged");
    } catch (const DataError& error) {
      ++refused;
      REQUIRE(std::string(error.what()).find("damaged") == 0);
      REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
    }
  };
  for (const auto& image : images) {
    for (std::size_t size = 0; size < image.size(); size += 61) {
      read({image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size)});
    }
    for (int round = 0; round < 2000; ++round) {
      auto damaged = image;
      for (std::uint64_t flips = 1 + random() % 64; flips > 0; --flips) {
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      }
      read(damaged);
    }
  }
  CHECK(refused > 1000);
}

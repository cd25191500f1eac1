// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/sass_groups.hpp"

#include <array>
#include <cstring>

namespace smtwin {
namespace {

constexpr std::size_t kOperations = 512;
constexpr std::uint64_t kOperationMask = kOperations - 1;

constexpr std::array<const char*, kOperations> make_groups() {
  std::array<const char*, kOperations> groups{};
  groups[0x03c] = groups[0x037] = groups[0x03f] = "mma";        // HMMA IMMA DMMA
  groups[0x07a] = groups[0x07e] = groups[0x07f] = "mma";        // QMMA MXQMMA OMMA: FP8, FP4
  groups[0x1f0] = groups[0x1f1] = groups[0x1f3] = "wgmma";      // HGMMA IGMMA QGMMA
  groups[0x03b] = "ldmatrix";                                   // LDSM
  groups[0x044] = "stmatrix";                                   // STSM
  groups[0x1ae] = "cp_async";                                   // LDGSTS
  groups[0x1b4] = groups[0x1b5] = "bulk_copy";                  // UTMALDG UTMASTG
  groups[0x1b6] = groups[0x1ba] = "bulk_copy";                  // UTMAREDG UBLKCP
  groups[0x023] = groups[0x049] = groups[0x02b] = "fma";        // FFMA FFMA2 DFMA
  groups[0x020] = groups[0x021] = "add_mul";                    // FMUL FADD
  groups[0x04a] = groups[0x04b] = "add_mul";                    // FMUL2 FADD2
  groups[0x028] = groups[0x029] = "add_mul";                    // DMUL DADD
  groups[0x030] = groups[0x031] = groups[0x032] = "half_math";  // HADD2 HFMA2 HMUL2
  groups[0x03e] = groups[0x104] = groups[0x110] = "convert";    // F2FP F2F
  groups[0x105] = groups[0x111] = "convert";                    // F2I
  groups[0x045] = groups[0x106] = groups[0x112] = "convert";    // I2FP I2F
  groups[0x108] = "sfu";                                        // MUFU
  groups[0x184] = "shared_load";                                // LDS
  groups[0x188] = "shared_store";                               // STS
  groups[0x18c] = groups[0x18d] = "shared_atomic";              // ATOMS
  groups[0x181] = "global_load";                                // LDG
  groups[0x186] = "global_store";                               // STG
  groups[0x1a3] = groups[0x1a8] = "global_atomic";              // ATOMG
  groups[0x18e] = groups[0x1a6] = "global_atomic";              // REDG
  groups[0x183] = "local_load";                                 // LDL
  groups[0x187] = "local_store";                                // STL
  groups[0x11d] = "barrier";                                    // BAR
  groups[0x189] = "shuffle";                                    // SHFL
  return groups;
}

constexpr std::array<const char*, kOperations> kGroups = make_groups();
constexpr std::uint64_t kNop = 0x118;

// Numbers that mean different operations on different architectures.
const char* group_of(std::size_t operation, ComputeCapability target) {
  const bool datacenter_blackwell = target.major == 10 || target.major == 11;
  switch (operation) {
    case 0x035:  // HFMA2.MMA before sm_100, IADD from there on
      return target.major < 10 ? "half_math" : nullptr;
    case 0x049:  // FFMA2
      return datacenter_blackwell ? "fma" : nullptr;
    case 0x04a:  // FMUL2; UVIMNMX on sm_120
    case 0x04b:  // FADD2
      return datacenter_blackwell ? "add_mul" : nullptr;
    default:
      return kGroups[operation];
  }
}

}  // namespace

std::map<std::string, std::int32_t> count_sass_groups(Bytes code, ComputeCapability target) {
  std::array<std::int32_t, kOperations> seen{};
  for (std::size_t at = 0; at + kSassInstructionBytes <= code.size(); at += kSassInstructionBytes) {
    std::uint64_t low = 0;
    std::memcpy(&low, code.data() + at, sizeof low);
    ++seen[low & kOperationMask];
  }
  std::map<std::string, std::int32_t> counts;
  for (std::size_t operation = 0; operation < kOperations; ++operation) {
    if (seen[operation] == 0 || operation == kNop) continue;
    counts["all"] += seen[operation];
    const char* group = group_of(operation, target);
    if (group != nullptr) counts[group] += seen[operation];
  }
  return counts;
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// .nv.info is a list of records: format and attribute (a byte each), then one or two bytes, or a
// 16-bit length and as many bytes. Attributes of all kernels name theirs by the index of its
// symbol; those in .nv.info.<kernel> belong to that one. Records of unknown attributes are skipped.
#include "validate/observations/cubin.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "arch/error.hpp"
#include "validate/observations/sass_groups.hpp"

namespace smtwin {
namespace {

enum Format : std::uint8_t { no_value = 1, byte_value = 2, half_value = 3, sized_value = 4 };
enum Attribute : std::uint8_t {
  max_threads = 0x05,       // three dimensions of __launch_bounds__
  required_threads = 0x10,  // three dimensions of .reqntid
  min_stack_size = 0x12,    // symbol, bytes with all calls
  register_count = 0x2f,    // symbol, registers
  barrier_count = 0x4c      // since CUDA 12.8; before, seven bits of the code section's flags
};

constexpr std::uint8_t kEntry = 0x10;           // a symbol's `other`: launchable from the host
constexpr std::int64_t kReservedShared = 1024;  // counted with the kernel's own from sm_90 on
constexpr std::uint8_t kAbiWithWideFlags = 8;   // flags hold the architecture in bits 8 to 15
constexpr int kBarrierShift = 20;
constexpr std::uint64_t kBarrierMask = 0x7f;
constexpr int kFirstCountedMajor = 7;  // older machine code has 8-byte instructions
constexpr std::int64_t kMostThreads = 1 << 20;

std::uint32_t word(Bytes bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// handle(attribute, value): for each record; the value of a short one is its two bytes.
template <class Handle>
void for_each_record(Bytes info, const std::string& where, Handle handle) {
  constexpr std::size_t kHeader = 4;
  for (std::size_t at = 0; at + kHeader <= info.size();) {
    const auto format = std::to_integer<std::uint8_t>(info[at]);
    const auto attribute = std::to_integer<std::uint8_t>(info[at + 1]);
    if (format < no_value || format > sized_value) {
      throw DataError(where + ": damaged cubin: .nv.info has a record of format " +
                      std::to_string(format) + "; 1 to 4 are known");
    }
    std::size_t bytes = 0;
    if (format == sized_value) {
      bytes = word(info, at) >> 16;
      if (bytes > info.size() - at - kHeader) {
        throw DataError(where + ": damaged cubin: a record of .nv.info reaches past its end");
      }
      handle(attribute, info.subspan(at + kHeader, bytes));
    } else {
      handle(attribute, info.subspan(at + 2, format == byte_value ? 1 : 2));
    }
    at += kHeader + bytes;
  }
}

// "ptxas 13.0.88" out of the texts of the tool-kit note, and the command line, its last text.
void read_tool_note(const ElfFile& elf, Cubin& cubin) {
  const ElfSection* note = elf.find(".note.nv.tkinfo");
  if (note == nullptr) return;
  const std::string_view text(reinterpret_cast<const char*>(note->data.data()), note->data.size());
  constexpr std::string_view kTool{"\0ptxas\0", 7};
  const std::string_view version = ", V";
  const std::size_t tool = text.find(kTool);
  const std::size_t at = tool == text.npos ? text.npos : text.find(version, tool);
  if (at == text.npos) return;
  const auto until_zero = [&](std::size_t from) {
    return std::string(text.substr(from, text.find('\0', from) - from));
  };
  cubin.compiler = "ptxas " + until_zero(at + version.size());
  const std::size_t build = text.find('\0', at);
  const std::size_t options = build == text.npos ? build : text.find('\0', build + 1);
  if (options == text.npos) return;
  cubin.options = until_zero(options + 1);
  while (cubin.options.ends_with(' ')) cubin.options.pop_back();
}

class CubinReader {
 public:
  CubinReader(Bytes image, const std::string& where)
      : where_(where), elf_(read_elf(image, where)) {}

  Cubin read() {
    if (elf_.machine != ElfFile::kCuda) throw DataError(where_ + ": an ELF file, but not a cubin");
    Cubin cubin;
    const std::uint32_t number =
        elf_.abi_version >= kAbiWithWideFlags ? (elf_.flags >> 8) & 0xff : elf_.flags & 0xff;
    cubin.target = {static_cast<int>(number / 10), static_cast<int>(number % 10)};
    read_tool_note(elf_, cubin);
    std::vector<std::int64_t> registers(elf_.symbols.size());
    std::vector<std::int64_t> stacks(elf_.symbols.size());
    if (const ElfSection* info = elf_.find(".nv.info")) {
      for_each_record(info->data, where_, [&](std::uint8_t attribute, Bytes value) {
        if (attribute == register_count) set_of_symbol(registers, value);
        if (attribute == min_stack_size) set_of_symbol(stacks, value);
      });
    }
    for (std::size_t i = 0; i < elf_.symbols.size(); ++i) {
      const ElfSymbol& symbol = elf_.symbols[i];
      if (symbol.type != ElfFile::kFunction || (symbol.other & kEntry) == 0) continue;
      cubin.kernels.push_back(read_kernel(symbol, cubin.target));
      cubin.kernels.back().registers_per_thread = static_cast<std::int32_t>(registers[i]);
      cubin.kernels.back().stack_bytes = stacks[i];
    }
    return cubin;
  }

 private:
  void set_of_symbol(std::vector<std::int64_t>& values, Bytes value) const {
    if (value.size() < 8 || word(value, 0) >= values.size()) {
      throw DataError(where_ + ": damaged cubin: .nv.info names a symbol that is not there");
    }
    const std::uint32_t found = word(value, 4);
    // A size that is not known at compile time (recursion) is all ones.
    if (found != UINT32_MAX && found > INT32_MAX) {
      throw DataError(where_ + ": damaged cubin: .nv.info has a count of " + std::to_string(found));
    }
    values[word(value, 0)] = found == UINT32_MAX ? 0 : found;
  }

  // Code that several symbols share is counted once, whatever the file says.
  const std::map<std::string, std::int32_t>& instructions(std::size_t section,
                                                          ComputeCapability target) {
    const auto known = counted_.find(section);
    if (known != counted_.end()) return known->second;
    return counted_.emplace(section, count_sass_groups(elf_.sections[section].data, target))
        .first->second;
  }

  CubinKernel read_kernel(const ElfSymbol& symbol, ComputeCapability target) {
    CubinKernel kernel;
    kernel.symbol = symbol.name;
    if (symbol.section == 0 || symbol.section >= elf_.sections.size()) {
      throw DataError(where_ + ": damaged cubin: kernel " + symbol.name + " has no code");
    }
    const ElfSection& code = elf_.sections[symbol.section];
    kernel.code_bytes = static_cast<std::int64_t>(code.data.size());
    kernel.barriers = static_cast<std::int32_t>((code.flags >> kBarrierShift) & kBarrierMask);
    if (target.major >= kFirstCountedMajor)
      kernel.instructions = instructions(symbol.section, target);
    if (const ElfSection* shared = elf_.find(".nv.shared." + symbol.name)) {
      kernel.static_shared_bytes = static_cast<std::int64_t>(shared->bytes & INT32_MAX);
    }
    if (elf_.find(".nv.shared.reserved.0") != nullptr &&
        kernel.static_shared_bytes >= kReservedShared) {
      kernel.reserved_shared_bytes = kReservedShared;
      kernel.static_shared_bytes -= kReservedShared;
    }
    if (const ElfSection* info = elf_.find(".nv.info." + symbol.name)) {
      for_each_record(info->data, where_, [&](std::uint8_t attribute, Bytes value) {
        if (attribute == max_threads || attribute == required_threads) {
          kernel.max_threads_per_cta = product(value);
        } else if (attribute == barrier_count && !value.empty()) {
          kernel.barriers = std::to_integer<std::int32_t>(value[0]);
        }
      });
    }
    return kernel;
  }

  static std::int32_t product(Bytes dimensions) {
    std::int64_t threads = 1;
    for (std::size_t at = 0; at + 4 <= dimensions.size() && at < 12; at += 4) {
      threads *= std::min<std::int64_t>(word(dimensions, at), kMostThreads);
    }
    return static_cast<std::int32_t>(std::min(threads, kMostThreads));
  }

  const std::string& where_;
  ElfFile elf_;
  std::map<std::size_t, std::map<std::string, std::int32_t>> counted_;
};

}  // namespace

bool is_cubin(Bytes image) {
  constexpr std::size_t kMachine = 18;  // place of e_machine
  return is_elf(image) && image.size() > kMachine + 1 &&
         std::to_integer<std::uint32_t>(image[kMachine]) == ElfFile::kCuda &&
         std::to_integer<std::uint32_t>(image[kMachine + 1]) == 0;
}

Cubin read_cubin(Bytes image, const std::string& where) { return CubinReader(image, where).read(); }

}  // namespace smtwin

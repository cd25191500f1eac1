// SPDX-License-Identifier: Apache-2.0
// A fat binary: a header of 16 bytes (magic, version, its size, size of what follows), then
// entries, each a header of at least 64 bytes that says its size and that of its content. A section
// holds one after the other, padded with zeros. Checked against nvcc 13.0 in all its compression
// modes.
#include "validate/observations/fatbin.hpp"

#include <cstring>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kEntryBytes = 64;
constexpr std::size_t kPadding = 4;
constexpr std::uint64_t kLz4 = 0x2000;  // of an entry's flags
constexpr std::uint64_t kZstd = 0x8000;

template <class T>
T value_at(Bytes bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

[[noreturn]] void fail(const std::string& where, const std::string& problem) {
  throw DataError(where + ": damaged fat binary: " + problem);
}

FatbinEntry read_entry(Bytes header, Bytes image) {
  constexpr std::uint16_t kPtx = 1;
  constexpr std::uint16_t kElf = 2;
  FatbinEntry entry;
  const auto kind = value_at<std::uint16_t>(header, 0);
  const auto architecture = value_at<std::uint32_t>(header, 28);
  const auto flags = value_at<std::uint64_t>(header, 40);
  entry.kind = kind == kPtx   ? FatbinKind::ptx
               : kind == kElf ? FatbinKind::cubin
                              : FatbinKind::other;
  entry.target = {static_cast<int>(architecture / 10 % 1000), static_cast<int>(architecture % 10)};
  entry.compression = (flags & kLz4) != 0    ? FatbinCompression::lz4
                      : (flags & kZstd) != 0 ? FatbinCompression::zstd
                                             : FatbinCompression::none;
  entry.image = image;
  return entry;
}

void read_entries(Bytes content, const std::string& where, std::vector<FatbinEntry>& entries) {
  while (!content.empty()) {
    if (content.size() < kEntryBytes) fail(where, "its last entry is cut off");
    const auto header = value_at<std::uint32_t>(content, 4);
    const auto bytes = value_at<std::uint64_t>(content, 8);
    if (header < kEntryBytes || header > content.size() || bytes > content.size() - header) {
      fail(where, "an entry reaches past its end");
    }
    entries.push_back(read_entry(content.first(header), content.subspan(header, bytes)));
    content = content.subspan(header + bytes);
  }
}

// One or more fat binaries in a row.
void read_containers(Bytes bytes, const std::string& where, std::vector<FatbinEntry>& entries) {
  while (bytes.size() >= kHeaderBytes) {
    const auto magic = value_at<std::uint32_t>(bytes, 0);
    if (magic == 0) {
      bytes = bytes.subspan(kPadding);
      continue;
    }
    const auto header = value_at<std::uint16_t>(bytes, 6);
    const auto content = value_at<std::uint64_t>(bytes, 8);
    if (magic != kMagic) fail(where, "it does not start with the mark of one");
    if (header < kHeaderBytes || header > bytes.size() || content > bytes.size() - header) {
      fail(where, "it reaches past the end of its section");
    }
    read_entries(bytes.subspan(header, content), where, entries);
    bytes = bytes.subspan(header + content);
  }
}

}  // namespace

std::vector<FatbinEntry> read_fatbin(Bytes file, const std::string& where) {
  std::vector<FatbinEntry> entries;
  if (file.size() >= kHeaderBytes && value_at<std::uint32_t>(file, 0) == kMagic) {
    read_containers(file, where, entries);
    return entries;
  }
  const ElfFile elf = read_elf(file, where);
  for (const ElfSection& section : elf.sections) {
    if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
    read_containers(section.data, where + ": " + section.name, entries);
  }
  return entries;
}

MachineCode read_machine_code(Bytes file, const std::string& where) {
  MachineCode code;
  if (is_cubin(file)) {
    code.cubins.push_back(read_cubin(file, where));
    return code;
  }
  for (const FatbinEntry& entry : read_fatbin(file, where)) {
    if (entry.kind == FatbinKind::ptx) ++code.ptx;
    if (entry.kind != FatbinKind::cubin) continue;
    if (entry.compression != FatbinCompression::none) {
      ++code.compressed_cubins;
      continue;
    }
    code.cubins.push_back(read_cubin(entry.image, where));
  }
  return code;
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Sections and symbols of an ELF file that lies in memory: host programs, objects and shared
// libraries (which carry fat binaries) and CUDA's machine code (cubins), read through libelf.
// Everything that the file says about places and sizes is checked against what is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace smtwin {

using Bytes = std::span<const std::byte>;

struct ElfSection {
  std::string name;
  std::uint64_t flags = 0;
  std::uint64_t bytes = 0;  // what it takes when loaded
  Bytes data;               // part of the image; empty for a section without contents
};

struct ElfSymbol {
  std::string name;
  std::uint8_t type = 0;   // STT_FUNC is 2
  std::uint8_t other = 0;  // visibility and what the machine adds
  std::size_t section = 0;
};

struct ElfFile {
  static constexpr std::uint16_t kCuda = 190;  // machine
  static constexpr std::uint8_t kFunction = 2;

  std::uint16_t machine = 0;
  std::uint8_t abi_version = 0;
  std::uint32_t flags = 0;
  std::vector<ElfSection> sections;  // index 0 is the empty one
  std::vector<ElfSymbol> symbols;    // of .symtab, index 0 is the empty one

  // The first section of that name, or null.
  const ElfSection* find(const std::string& name) const;

  std::unordered_map<std::string, std::size_t> section_of_name;
};

bool is_elf(Bytes image);

// `image` must outlive the answer. DataError starts with `where`.
ElfFile read_elf(Bytes image, const std::string& where);

// A whole file. DataError when it cannot be read.
std::vector<std::byte> read_binary_file(const std::string& path);

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// The only file that knows libelf.
#include "validate/observations/elf.hpp"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "arch/error.hpp"

namespace smtwin {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

[[noreturn]] void fail(const std::string& where, const std::string& problem) {
  throw DataError(where + ": damaged ELF file: " + problem);
}

std::string name_at(Elf* elf, std::size_t table, std::size_t offset, const std::string& where) {
  const char* name = elf_strptr(elf, table, offset);
  if (name == nullptr) fail(where, "a name lies outside its string table");
  return name;
}

// The part of the image that a section's header points to.
Bytes contents(Bytes image, const GElf_Shdr& header, const std::string& name,
               const std::string& where) {
  if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) return {};
  if (header.sh_offset > image.size() || header.sh_size > image.size() - header.sh_offset) {
    fail(where, "section " + name + " reaches past the end of the file");
  }
  return image.subspan(header.sh_offset, header.sh_size);
}

void read_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const std::string& where,
                  std::vector<ElfSymbol>& symbols) {
  Elf_Data* data = elf_getdata(section, nullptr);
  const std::size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
  if (data == nullptr || entry == 0 || header.sh_entsize != entry) {
    fail(where, "its symbol table cannot be read");
  }
  const std::size_t count = data->d_size / entry;
  symbols.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
      fail(where, "symbol " + std::to_string(i) + " cannot be read");
    }
    symbols.push_back({.name = name_at(elf, header.sh_link, symbol.st_name, where),
                       .type = static_cast<std::uint8_t>(GELF_ST_TYPE(symbol.st_info)),
                       .other = symbol.st_other,
                       .section = symbol.st_shndx});
  }
}

}  // namespace

const ElfSection* ElfFile::find(const std::string& name) const {
  const auto found = section_of_name.find(name);
  return found == section_of_name.end() ? nullptr : &sections[found->second];
}

bool is_elf(Bytes image) {
  return image.size() > SELFMAG && std::memcmp(image.data(), ELFMAG, SELFMAG) == 0;
}

ElfFile read_elf(Bytes image, const std::string& where) {
  if (!is_elf(image)) throw DataError(where + ": not an ELF file");
  if (elf_version(EV_CURRENT) == EV_NONE) throw DataError(where + ": this libelf is too old");
  // libelf takes the image as writable, but writes only to what it was asked to update.
  auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(image.data()));
  const ElfHandle elf(elf_memory(bytes, image.size()));
  GElf_Ehdr header;
  std::size_t names = 0;
  std::size_t count = 0;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF ||
      gelf_getehdr(elf.get(), &header) == nullptr || elf_getshdrnum(elf.get(), &count) != 0 ||
      (count != 0 && elf_getshdrstrndx(elf.get(), &names) != 0)) {
    fail(where, "its header cannot be read");
  }
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) throw DataError(where + ": not little-endian");
  ElfFile file;
  file.machine = header.e_machine;
  file.abi_version = header.e_ident[EI_ABIVERSION];
  file.flags = header.e_flags;
  bool has_symbols = false;
  for (std::size_t i = 0; i < count; ++i) {
    Elf_Scn* section = elf_getscn(elf.get(), i);
    GElf_Shdr shdr;
    if (section == nullptr || gelf_getshdr(section, &shdr) == nullptr) {
      fail(where, "section " + std::to_string(i) + " cannot be read");
    }
    const std::string name = i == 0 ? "" : name_at(elf.get(), names, shdr.sh_name, where);
    file.section_of_name.emplace(name, i);
    file.sections.push_back({.name = name,
                             .flags = shdr.sh_flags,
                             .bytes = shdr.sh_size,
                             .data = contents(image, shdr, name, where)});
    if (shdr.sh_type == SHT_SYMTAB && !has_symbols) {
      has_symbols = true;
      read_symbols(elf.get(), section, shdr, where, file.symbols);
    }
  }
  return file;
}

std::vector<std::byte> read_binary_file(const std::string& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  std::ifstream in(path, std::ios::binary);
  if (problem || !in) throw DataError(path + ": cannot be read");
  std::vector<std::byte> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (in.gcount() != static_cast<std::streamsize>(size)) {
    throw DataError(path + ": cannot be read to its end");
  }
  return bytes;
}

}  // namespace smtwin

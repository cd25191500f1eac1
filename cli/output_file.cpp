// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "arch/error.hpp"

namespace smtwin {
namespace {

bool write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  file.close();
  return static_cast<bool>(file);
}

// Onto the disk before the file takes its name: a power cut leaves the old file or the new one.
bool sync_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool synced = ::fsync(file) == 0 || errno == EINVAL;  // a file system without
  ::close(file);
  return synced;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw DataError(path + ": cannot be written (" + why + ")");
}

}  // namespace

void write_file_atomically(const std::string& path, const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  // Through a link the file it points to is replaced, not the link.
  fs::path target = fs::weakly_canonical(path, error);
  if (error) target = path;
  if (fs::is_directory(target, error)) refuse(path, "it is a folder");
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    if (!write_text(target, text)) refuse(path, "the write failed");
    return;
  }
  fs::path temporary = target;
  temporary += ".partial-" + std::to_string(::getpid());
  if (!write_text(temporary, text) || !sync_file(temporary)) {
    fs::remove(temporary, error);
    refuse(path, "the folder is missing, read-only or full");
  }
  fs::rename(temporary, target, error);
  if (error) {
    const std::string why = error.message();
    fs::remove(temporary, error);
    refuse(path, why);
  }
}

}  // namespace smtwin

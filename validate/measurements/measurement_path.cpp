// SPDX-License-Identifier: Apache-2.0
// Which files below a folder are tables. The order is that of their paths, not the file system's,
// so that a fit of the same folder is the same everywhere. Links to folders are not followed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "arch/error.hpp"
#include "validate/measurements/measurement_reader.hpp"

namespace smtwin {
namespace {

namespace fs = std::filesystem;

bool is_table_name(const fs::path& path) {
  return path.extension() == ".csv" || path.filename().string().ends_with("_perf.txt");
}

struct Folder {
  std::vector<std::string> tables;  // sorted
  std::size_t parquet_files = 0;
};

Folder list_folder(const std::string& path) {
  Folder folder;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    if (!entry->is_regular_file(vanished)) continue;
    if (is_table_name(entry->path())) folder.tables.push_back(entry->path().generic_string());
    if (entry->path().extension() == ".parquet") ++folder.parquet_files;
  }
  if (error) throw DataError(path + ": cannot be searched for tables (" + error.message() + ")");
  std::sort(folder.tables.begin(), folder.tables.end());
  return folder;
}

void read_file(const std::string& path, MeasurementSet& set) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::error_code error;
    const bool there = fs::exists(path, error);
    throw DataError(path + (there ? ": cannot be opened; is it readable?"
                                  : ": no such file or folder; expected a table of kernel times"));
  }
  read_measurements(file, path, set);
}

}  // namespace

void read_measurement_path(const std::string& path, MeasurementSet& set) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    read_file(path, set);
    return;
  }
  const Folder folder = list_folder(path);
  if (folder.tables.empty()) {
    throw DataError(path + ": no *.csv or *_perf.txt below this folder" +
                    (folder.parquet_files > 0
                         ? "; convert its " + std::to_string(folder.parquet_files) +
                               " Parquet files to CSV first"
                         : ""));
  }
  for (const std::string& table : folder.tables) read_file(table, set);
}

}  // namespace smtwin

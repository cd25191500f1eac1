// SPDX-License-Identifier: Apache-2.0
// Which files describe the model of a path, and reading them.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "arch/error.hpp"
#include "validate/observations/hf_config.hpp"

namespace smtwin {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFileBytes = 16u << 20;
constexpr char kConfig[] = "config.json";
constexpr char kQuantConfig[] = "hf_quant_config.json";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// "hf_quant_config.json" beside "config.json", "x_hf_quant_config.json" beside "x_config.json".
fs::path quant_path_of(const fs::path& config) {
  const std::string name = config.filename().string();
  if (!name.ends_with(kConfig)) return {};
  const std::string stem = name.substr(0, name.size() - std::string(kConfig).size());
  return config.parent_path() / (stem + kQuantConfig);
}

}  // namespace

std::string read_description_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw DataError(path + ": no such file");
  if (fs::is_directory(status)) throw DataError(path + ": is a folder; expected a JSON file");
  std::ifstream in(path, std::ios::binary);
  std::string text;
  constexpr std::size_t kChunkBytes = 1u << 16;
  std::string chunk(kChunkBytes, '\0');
  while (in && text.size() <= kLargestFileBytes) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad() || text.size() > kLargestFileBytes) {
    throw DataError(path +
                    ": cannot be read as a model description; expected a JSON file of up "
                    "to 16 MiB");
  }
  return text;
}

HfFiles find_hf_files(const std::string& path) {
  std::error_code ignored;
  fs::path config = path;
  if (fs::is_directory(config, ignored)) {
    config /= kConfig;
    if (!is_file(config)) {
      throw DataError(path +
                      ": folder without a config.json; give the folder of a checkpoint or "
                      "the file itself");
    }
  }
  const std::string name = config.filename().string();
  if (name.ends_with(kQuantConfig)) {
    throw DataError(path + ": describes only the quantization; give the config.json beside it");
  }
  HfFiles files;
  files.config_name = config.string();
  files.config_text = read_description_file(files.config_name);
  const fs::path quant = quant_path_of(config);
  if (!quant.empty() && is_file(quant)) {
    files.quant_name = quant.string();
    files.quant_text = read_description_file(files.quant_name);
  }
  return files;
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Finding a GPU by what somebody typed or pasted, in this order: a path, a canonical name (opens
// one file), a name, alias or marketing name of any file in another spelling, and last a part of
// such a name that fits one GPU only and has a model number in it ("5090", "RTX PRO 6000 Server").
#include "arch/gpu_catalog.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>

#include "arch/error.hpp"
#include "arch/gpu_labels.hpp"
#include "arch/gpu_spec_io.hpp"
#include "arch/nearest_names.hpp"

namespace smtwin {
namespace {
namespace fs = std::filesystem;

// Words that vendors and drivers put around a model name and that tell nothing apart.
constexpr std::array<std::string_view, 6> kFillers{"nvidia",   "geforce",     "tesla",
                                                   "graphics", "corporation", "gpu"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Lower-case words without fillers: "NVIDIA GeForce RTX_5090" -> rtx, 5090.
std::vector<std::string> name_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const char l = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (is_digit(l) || (l >= 'a' && l <= 'z')) {
      words.back() += l;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || std::find(kFillers.begin(), kFillers.end(), word) != kFillers.end();
  });
  return words;
}

// "rtx6000", "h200", "5090", but neither "server" nor a memory size or socket.
bool is_model_number(const std::string& word) {
  return std::any_of(word.begin(), word.end(), is_digit) && !word.ends_with("gb") &&
         !word.starts_with("sxm") && !word.starts_with("hbm");
}

std::string gpus_folder() { return (fs::path(data_directory()) / "gpus").string(); }

std::string gpu_file(const std::string& name) {
  return (fs::path(gpus_folder()) / (name + ".json")).string();
}

bool is_generic(const std::string& name) {
  return name.starts_with("sm-") && name.size() > 3 &&
         std::all_of(name.begin() + 3, name.end(), is_digit);
}

bool looks_like_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

// "RTX PRO 6000_server" -> "rtx-pro-6000-server"; empty when no file name could come of it.
std::string canonical_spelling(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else if (is_digit(c) || (c >= 'a' && c <= 'z')) {
      name += c;
    } else if (c == ' ' || c == '_' || c == '-') {
      name += '-';
    } else {
      return "";
    }
  }
  return name;
}

// A shipped GPU by the spellings it goes by, each as words.
struct Entry {
  std::string name;
  std::vector<std::vector<std::string>> labels;
};

std::vector<Entry> read_entries() {
  // The names come first in a file; 64 kB hold them with room for any number of aliases.
  constexpr std::size_t kHead = 65536;
  const fs::path folder = gpus_folder();
  std::vector<Entry> entries;
  for (const std::string& name : gpu_names()) {
    std::ifstream in(folder / (name + ".json"), std::ios::binary);
    std::string text(kHead, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    Entry entry{name, {name_words(name)}};
    for (const std::string& label : read_gpu_labels(text)) {
      entry.labels.push_back(name_words(label));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

bool contains_all(const std::vector<std::string>& label, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(label.begin(), label.end(), word) != label.end();
  });
}

std::string quoted(std::string text) {
  constexpr std::size_t kLongest = 80;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return '"' + text + '"';
}

// Canonical names of the GPUs with a label that resembles the words, best first.
std::vector<std::string> near_gpus(const std::vector<std::string>& words,
                                   const std::vector<Entry>& entries) {
  constexpr std::size_t kAtMost = 4;
  std::vector<std::string> labels;
  std::map<std::string, std::string> owner;  // label -> canonical name
  for (const Entry& entry : entries) {
    for (const auto& label : entry.labels) {
      labels.push_back(joined(label, "-"));
      owner.emplace(labels.back(), entry.name);
    }
  }
  std::vector<std::string> names;
  for (const std::string& label : nearest_names(joined(words, "-"), labels, labels.size())) {
    const std::string& name = owner.at(label);
    if (std::find(names.begin(), names.end(), name) == names.end() && names.size() < kAtMost) {
      names.push_back(name);
    }
  }
  return names;
}

GpuSpec load_only(const std::string& text, const std::vector<std::string>& names) {
  if (names.size() == 1) return load_gpu_spec(gpu_file(names.front()));
  throw UsageError("gpu " + quoted(text) + " fits more than one: " + comma_list(names) +
                   "; name one of them");
}

GpuSpec search(const std::string& text) {
  const std::vector<Entry> entries = read_entries();
  const std::vector<std::string> words = name_words(text);
  const std::string key = joined(words, "");  // how the words were separated does not matter
  const bool specific = std::any_of(words.begin(), words.end(), is_model_number);
  std::vector<std::string> same, containing;
  for (const Entry& entry : entries) {
    const auto any_label = [&](auto&& fits) {
      return std::any_of(entry.labels.begin(), entry.labels.end(), fits);
    };
    if (!key.empty() && any_label([&](const auto& label) { return joined(label, "") == key; })) {
      same.push_back(entry.name);
    }
    if (specific && any_label([&](const auto& label) { return contains_all(label, words); })) {
      containing.push_back(entry.name);
    }
  }
  if (!same.empty()) return load_only(text, same);
  if (!containing.empty()) return load_only(text, containing);

  const std::vector<std::string> near = near_gpus(words, entries);
  throw UsageError("unknown gpu " + quoted(text) + "; " +
                   (near.empty()
                        ? "smtwin gpus lists all"
                        : "did you mean " + comma_list(near) + "? (smtwin gpus lists all)"));
}

}  // namespace

std::vector<std::string> gpu_names() {
  const std::string folder = gpus_folder();
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  if (failed) throw DataError(folder + ": cannot be listed: " + failed.message());
  const auto order = [](const std::string& name) {
    const bool generic = is_generic(name);
    return std::tuple(generic, generic ? name.size() : 0, name);  // sm-90 before sm-100
  };
  std::sort(names.begin(), names.end(),
            [&](const std::string& a, const std::string& b) { return order(a) < order(b); });
  return names;
}

GpuSpec find_gpu(const std::string& name_or_file) {
  if (looks_like_path(name_or_file)) return load_gpu_spec(name_or_file);
  const std::string canonical = canonical_spelling(name_or_file);
  std::error_code ignored;
  if (!canonical.empty() && fs::is_regular_file(gpu_file(canonical), ignored)) {
    return load_gpu_spec(gpu_file(canonical));
  }
  return search(name_or_file);
}

}  // namespace smtwin

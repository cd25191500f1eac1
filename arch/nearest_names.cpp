// SPDX-License-Identifier: Apache-2.0
#include "arch/nearest_names.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace smtwin {
namespace {

// Longer inputs are pasted rubbish; the edit distance is quadratic.
constexpr std::size_t kLongestName = 100;
constexpr double kWorthNaming = 0.6;
constexpr double kOfBest = 0.75;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Runs of letters and runs of digits, in lower case: "RTX6000-Ada" -> rtx, 6000, ada.
std::set<std::string> words(std::string_view text) {
  std::set<std::string> found;
  std::string word;
  for (const char c : text) {
    const bool continues = !word.empty() && is_digit(word.back()) == is_digit(c);
    if (!word.empty() && (!continues || !(is_digit(c) || is_letter(c)))) {
      found.insert(std::exchange(word, {}));
    }
    if (is_digit(c) || is_letter(c)) word += lower(c);
  }
  if (!word.empty()) found.insert(word);
  return found;
}

double weight(const std::string& word) { return is_digit(word.front()) ? 2 : 1; }

std::string letters_and_digits(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (is_digit(c) || is_letter(c)) kept += lower(c);
  }
  return kept;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

double name_similarity(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestName);
  b = b.substr(0, kLongestName);
  const std::set<std::string> in_a = words(a), in_b = words(b);
  double shared = 0, all = 0;
  for (const std::string& word : in_a) {
    all += weight(word);
    if (in_b.contains(word)) shared += weight(word);
  }
  for (const std::string& word : in_b) {
    if (!in_a.contains(word)) all += weight(word);
  }
  const std::string plain_a = letters_and_digits(a), plain_b = letters_and_digits(b);
  const std::size_t longest = std::max(plain_a.size(), plain_b.size());
  if (longest == 0) return 0;
  const auto edits = static_cast<double>(edit_distance(plain_a, plain_b));
  return shared / all + 1 - edits / static_cast<double>(longest);
}

std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names, std::size_t at_most) {
  std::vector<std::pair<double, std::string>> scored;
  for (const std::string& name : names) scored.emplace_back(name_similarity(wanted, name), name);
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> near;
  for (const auto& [score, name] : scored) {
    if (near.size() == at_most || score < kWorthNaming || score < kOfBest * scored.front().first) {
      break;
    }
    near.push_back(name);
  }
  return near;
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace smtwin

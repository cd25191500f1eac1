// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_pattern.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>

namespace smtwin {
namespace {

constexpr std::size_t kLongestExpression = 256;
constexpr long kMostRepetitions = 100;

// libstdc++'s default matcher backtracks, so that "(a*)*b" takes exponential time; its other one
// does not.
std::regex::flag_type expression_flags() {
#ifdef __GLIBCXX__
  return std::regex_constants::ECMAScript | std::regex_constants::__polynomial;
#else
  return std::regex::ECMAScript;
#endif
}

// Product of all counts in braces: "(a{100}){100}" expands to ten thousand states.
bool repeats_too_often(const std::string& expression) {
  long product = 1;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '{') continue;
    for (std::size_t j = i + 1; j < expression.size() && expression[j] != '}';) {
      long count = 0;
      while (j < expression.size() && std::isdigit(static_cast<unsigned char>(expression[j]))) {
        count = std::min(kMostRepetitions + 1, 10 * count + (expression[j++] - '0'));
      }
      product *= std::max(1L, count);
      if (product > kMostRepetitions) return true;
      if (j < expression.size() && expression[j] != '}') ++j;
    }
  }
  return false;
}

// Most expressions are literals joined by ".*", which fnmatch answers a hundred times faster.
// nullopt for any other; a match need not reach the end unless '$' says so.
std::optional<std::string> as_wildcard(const std::string& expression) {
  std::string wildcard;
  bool to_the_end = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if (c == '\\' && next == '.') {
      wildcard += '.';
      ++i;
    } else if (c == '.' && next == '*') {
      wildcard += '*';
      ++i;
    } else if (c == '.') {
      wildcard += '?';
    } else if (c == '$' && next == '\0') {
      to_the_end = true;
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') {
      wildcard += c;
    } else if (c != '^' || i != 0) {
      return std::nullopt;
    }
    const bool repeated = i + 1 < expression.size() &&
                          std::string("*+?{").find(expression[i + 1]) != std::string::npos;
    if (repeated) return std::nullopt;
  }
  return to_the_end ? wildcard : wildcard + '*';
}

// Offsets at which a component of the name starts.
std::vector<std::size_t> component_starts(const std::string& module) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < module.size(); ++i) {
    if (module[i] == '.') starts.push_back(i + 1);
  }
  return starts;
}

}  // namespace

struct HfModulePatterns::Expression {
  std::regex regex;
};

HfModulePatterns::HfModulePatterns() = default;
HfModulePatterns::~HfModulePatterns() = default;
HfModulePatterns::HfModulePatterns(HfModulePatterns&&) noexcept = default;
HfModulePatterns& HfModulePatterns::operator=(HfModulePatterns&&) noexcept = default;

bool wildcard_match(const std::string& pattern, const std::string& text) {
  // Greedy with one step back to the last '*': linear in practice, never exponential.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool HfModulePatterns::add(const std::string& pattern) {
  if (pattern.rfind("re:", 0) == 0) {
    const std::string expression = pattern.substr(3);
    if (expression.size() > kLongestExpression || repeats_too_often(expression)) return false;
    if (auto wildcard = as_wildcard(expression)) {
      anchored_.push_back(std::move(*wildcard));
      return true;
    }
    try {
      expressions_.push_back(
          std::make_unique<Expression>(Expression{std::regex(expression, expression_flags())}));
    } catch (const std::regex_error&) {
      return false;
    }
    return true;
  }
  // Some lists name tensors instead of modules.
  const std::string suffix = ".weight";
  const bool tensor = pattern.size() > suffix.size() && pattern.ends_with(suffix);
  const std::string name = tensor ? pattern.substr(0, pattern.size() - suffix.size()) : pattern;
  if (name.find_first_of("*?") == std::string::npos) {
    plain_.insert(name);
  } else {
    wildcards_.push_back(name);
    wildcards_.push_back(name + ".*");  // children of what it names
  }
  return true;
}

std::size_t HfModulePatterns::tried_entries() const {
  return wildcards_.size() / 2 + anchored_.size() + expressions_.size();
}

bool HfModulePatterns::empty() const { return plain_.empty() && tried_entries() == 0; }

bool HfModulePatterns::matches(const std::string& module) const {
  for (const std::string& wildcard : anchored_) {
    if (wildcard_match(wildcard, module)) return true;
  }
  for (const auto& expression : expressions_) {
    if (std::regex_search(module, expression->regex, std::regex_constants::match_continuous)) {
      return true;
    }
  }
  const std::vector<std::size_t> starts = component_starts(module);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    for (std::size_t j = i; j < starts.size() && !plain_.empty(); ++j) {
      const std::size_t end = j + 1 < starts.size() ? starts[j + 1] - 1 : module.size();
      if (plain_.contains(module.substr(starts[i], end - starts[i]))) return true;
    }
    const std::string tail = module.substr(starts[i]);
    for (const std::string& wildcard : wildcards_) {
      if (wildcard_match(wildcard, tail)) return true;
    }
  }
  return false;
}

}  // namespace smtwin

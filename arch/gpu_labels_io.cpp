// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "arch/gpu_labels.hpp"

namespace smtwin {
namespace {

// Collects the strings under the three top-level keys and stops at the first group of numbers.
class LabelCollector : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<std::string> labels;

  bool key(string_t& name) override {
    if (depth_ == 1) key_ = name;
    return true;
  }
  bool string(string_t& text) override {
    if (key_ == "name" || key_ == "display_name" || key_ == "aliases") labels.push_back(text);
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    return depth_ == 1;
  }
  bool end_object() override { return false; }
  bool start_array(std::size_t) override { return depth_ == 1; }
  bool end_array() override { return true; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  int depth_ = 0;
  std::string key_;
};

}  // namespace

std::vector<std::string> read_gpu_labels(std::string_view json_text) {
  LabelCollector collector;
  nlohmann::json::sax_parse(json_text.begin(), json_text.end(), &collector);
  return std::move(collector.labels);
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Aligned tables and wrapped notes within 100 columns, and CSV (RFC 4180 quoting).
#include <algorithm>
#include <numeric>
#include <ostream>
#include <sstream>
#include <utility>

#include "cli/report.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kGap = 2;
// A last column narrower than this is not worth wrapping into.
constexpr std::size_t kNarrowest = 13;

// Where to cut a word that is wider than a line: after its last '/' or ',' that fits. Words of
// other than ASCII characters are left whole, a cut could split a character.
std::size_t cut_of(const std::string& word, std::size_t width) {
  const std::size_t mark = word.substr(0, width).find_last_of("/,");
  return mark == std::string::npos || mark == 0 ? width : mark + 1;
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    while (word.size() > width && word.size() == display_width(word)) {
      if (!line.empty()) lines.push_back(std::exchange(line, ""));
      const std::size_t cut = cut_of(word, width);
      lines.push_back(word.substr(0, cut));
      word.erase(0, cut);
    }
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    line += line.empty() ? word : ' ' + word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

std::string blanks(std::size_t n) { return std::string(n, ' '); }

void print_line(std::ostream& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  }));
}

std::string join(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t TextTable::width() const {
  const std::vector<std::size_t> each = widths();
  return std::accumulate(each.begin(), each.end(), (each.size() - 1) * kGap);
}

void TextTable::print(std::ostream& out) const {
  const std::size_t last = columns_.size() - 1;
  const std::vector<std::size_t> widths = this->widths();
  const std::size_t last_begins = width() - widths[last];
  const bool wraps = columns_[last].align == Align::left &&
                     last_begins + widths[last] > kReportColumns &&
                     last_begins + kNarrowest <= kReportColumns;
  const auto print_cells = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < last; ++c) {
      const std::string pad = blanks(widths[c] - display_width(cells[c]));
      line += (columns_[c].align == Align::left ? cells[c] + pad : pad + cells[c]) + blanks(kGap);
    }
    if (!wraps) {
      const std::size_t missing = widths[last] - display_width(cells[last]);
      print_line(
          out, line + (columns_[last].align == Align::right ? blanks(missing) : "") + cells[last]);
      return;
    }
    for (const std::string& piece : wrap(cells[last], kReportColumns - last_begins)) {
      print_line(out, line + piece);
      line = blanks(last_begins);
    }
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  print_cells(titles);
  for (const auto& row : rows_) print_cells(row);
}

void print_wrapped(std::ostream& out, const std::string& label, const std::string& text,
                   std::size_t label_width) {
  const std::size_t width =
      label.empty() ? label_width : std::max(label_width, display_width(label) + kGap);
  std::string line = label + blanks(width - display_width(label));
  for (const std::string& piece : wrap(text, kReportColumns - width)) {
    print_line(out, line + piece);
    line = blanks(width);
  }
}

std::string csv_field(const std::string& text) {
  const bool outer_blank = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!outer_blank && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_csv_row(std::ostream& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) out << (i ? "," : "") << csv_field(cells[i]);
  out << '\n';
}

void write_csv(std::ostream& out, const CsvTable& table) {
  write_csv_row(out, table.header);
  for (const auto& row : table.rows) write_csv_row(out, row);
}

void print_overrides(std::ostream& out, const std::vector<AppliedOverride>& overrides) {
  for (const AppliedOverride& o : overrides) {
    print_wrapped(out, "override",
                  o.path + ' ' + o.before + " -> " + o.after +
                      (o.reason.empty() ? "" : " (" + o.reason + ")"));
  }
}

void print_named_rows(std::ostream& out, const std::vector<std::string>& names,
                      const TextTable& table) {
  std::stringstream rows;
  table.print(rows);
  std::string line;
  std::getline(rows, line);
  out << "    " << line << '\n';
  for (const std::string& name : names) {
    std::getline(rows, line);
    out << name << "\n    " << line << '\n';
  }
}

}  // namespace smtwin

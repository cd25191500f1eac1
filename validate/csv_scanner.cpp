// SPDX-License-Identifier: Apache-2.0
// One pass over the bytes of a row. A line break behind the last byte read ends every inner loop,
// so that none has to compare positions. Where a row is cut off by the end of the buffer it is
// moved to the front and scanned again once more was read: once a chunk, so it costs nothing.
#include "validate/csv_scanner.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kChunkBytes = std::size_t{1} << 18;  // stays in a core's L2 cache
constexpr std::size_t kCapacity = CsvScanner::kMaxRecordBytes + kChunkBytes;

constexpr std::array<bool, 256> kEndsPlainCell = [] {
  std::array<bool, 256> ends{};
  for (const char c : {',', '\n', '\r'}) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view without_trailing_blanks(const char* first, const char* last) {
  while (last != first && is_blank(last[-1])) --last;
  return {first, static_cast<std::size_t>(last - first)};
}

// Writes one quote for each pair, in place: `cell` is a view into `buffer`.
std::string_view unescaped(char* buffer, std::string_view cell) {
  char* const first = buffer + (cell.data() - buffer);
  char* to = first;
  for (const char* from = first; from != first + cell.size(); ++from) {
    *to++ = *from;
    if (*from == '"') ++from;  // its twin
  }
  return {first, static_cast<std::size_t>(to - first)};
}

}  // namespace

CsvScanner::CsvScanner(std::istream& in, std::string file_name)
    : in_(&in), file_name_(std::move(file_name)), buffer_(new char[kCapacity + 1]) {
  fill();
  if (buffered().starts_with(kByteOrderMark)) begin_ += kByteOrderMark.size();
}

std::string CsvScanner::where() const { return file_name_ + ":" + std::to_string(line_); }

void CsvScanner::refuse(const std::string& what) const { throw DataError(where() + ": " + what); }

void CsvScanner::fill() {
  char* const buffer = buffer_.get();
  const std::size_t kept = end_ - begin_;
  std::memmove(buffer, buffer + begin_, kept);
  begin_ = 0;
  std::streamsize got = 0;
  try {
    const auto wanted = static_cast<std::streamsize>(std::min(kChunkBytes, kCapacity - kept));
    if (in_->rdbuf() != nullptr) got = in_->rdbuf()->sgetn(buffer + kept, wanted);
    exhausted_ = got < wanted;
  } catch (const std::ios_base::failure& failure) {
    throw DataError(file_name_ + ": cannot be read (" + failure.code().message() +
                    "); expected a text file");
  }
  end_ = kept + static_cast<std::size_t>(got);
  buffer[end_] = '\n';
}

bool CsvScanner::next(std::vector<std::string_view>& cells) {
  line_ = next_line_;
  for (;;) {
    const std::size_t first = begin_;
    const Outcome outcome = scan(cells);
    const std::size_t length = (outcome == Outcome::more ? end_ : begin_) - first;
    if (length > kMaxRecordBytes) {
      refuse("a row of more than " + std::to_string(kMaxRecordBytes) +
             " bytes; expected lines of cells, every quote closed");
    }
    if (outcome != Outcome::more) return outcome == Outcome::row;
    fill();
  }
}

CsvScanner::Outcome CsvScanner::scan(std::vector<std::string_view>& cells) {
  const char* const last = buffer_.get() + end_;
  const char* at = buffer_.get() + begin_;
  long line = line_;
  cells.clear();
  escaped_.clear();
  if (at == last) return exhausted_ ? Outcome::end : Outcome::more;

  for (;;) {
    while (is_blank(*at)) ++at;
    if (*at == '"') {
      const char* const first = ++at;
      bool has_escapes = false;
      for (;; ++at) {
        while (*at != '"' && *at != '\n') ++at;
        if (at == last) {
          if (exhausted_) refuse("a quote that opens here is never closed");
          return Outcome::more;
        }
        if (*at == '\n') {
          ++line;
          continue;
        }
        if (at + 1 == last || at[1] != '"') break;
        has_escapes = true;
        ++at;
      }
      if (has_escapes) escaped_.push_back(cells.size());
      cells.emplace_back(first, static_cast<std::size_t>(at - first));
      ++at;
      while (is_blank(*at)) ++at;
      // At the end of the buffer the twin of the quote, or what follows it, may be yet unread.
      if (at != last && !kEndsPlainCell[static_cast<unsigned char>(*at)]) {
        refuse("text after a closing quote; write a quote inside quotes twice");
      }
    } else {
      const char* const first = at;
      while (!kEndsPlainCell[static_cast<unsigned char>(*at)]) ++at;
      cells.push_back(without_trailing_blanks(first, at));
    }
    if (at == last) {
      if (!exhausted_) return Outcome::more;
      break;
    }
    if (*at == ',') {
      ++at;
      continue;
    }
    if (*at == '\r') {
      if (at + 1 == last && !exhausted_) return Outcome::more;
      if (at + 1 != last && at[1] == '\n') ++at;
    }
    ++at;
    ++line;
    break;
  }
  begin_ = static_cast<std::size_t>(at - buffer_.get());
  next_line_ = line;
  for (const std::size_t cell : escaped_) cells[cell] = unescaped(buffer_.get(), cells[cell]);
  return Outcome::row;
}

}  // namespace smtwin

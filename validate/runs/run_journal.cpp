// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

#include "arch/error.hpp"
#include "arch/json_text.hpp"
#include "validate/runs/reading_io.hpp"

namespace smtwin {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw DataError(path + ": " + what + ": " + std::strerror(errno));
}

std::string read_all(int file, const std::string& path) {
  std::string text;
  char block[1 << 16];
  for (ssize_t n = 0; (n = ::read(file, block, sizeof block)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(path, "cannot be read");
    text.append(block, static_cast<std::size_t>(n));
  }
  return text;
}

constexpr std::string_view kHeadStart = "{\"journal_of\": ";

std::string head_line(const JournalHead& head) {
  return std::string(kHeadStart) + write_reading(head.gpu) +
         ", \"tool_version\": " + json_quoted(head.tool_version) +
         ", \"compiler\": " + json_quoted(head.compiler) + ", \"plan\": " + json_quoted(head.plan) +
         ", \"seed\": " + std::to_string(head.seed) + "}";
}

void check_same(const HfObject& o, const JournalHead& now) {
  o.expect_keys({"journal_of", "tool_version", "compiler", "plan", "seed"});
  const RunGpu then = read_run_gpu(o.object("journal_of"));
  const std::int64_t seed = o.integer("seed", {0, std::numeric_limits<std::int64_t>::max()});
  const struct {
    const char* what;
    std::string then, now;
  } facts[] = {{"GPU", then.reported, now.gpu.reported},
               {"compute capability", then.compute_capability, now.gpu.compute_capability},
               {"SM count", std::to_string(then.sm_count), std::to_string(now.gpu.sm_count)},
               {"driver", then.driver, now.gpu.driver},
               {"CUDA runtime", then.cuda_runtime, now.gpu.cuda_runtime},
               {"smtwin version", o.text("tool_version"), now.tool_version},
               {"compiler", o.text("compiler"), now.compiler},
               {"plan", o.text("plan"), now.plan},
               {"seed", std::to_string(seed), std::to_string(now.seed)}};
  for (const auto& fact : facts) {
    if (fact.then == fact.now) continue;
    throw DataError(o.file_name() + ": readings of an interrupted run with " + fact.what + " \"" +
                    fact.then + "\", now it is \"" + fact.now +
                    "\"; remove that file to start anew, or give another -o");
  }
}

template <typename Reading, typename Same>
void keep_where(std::vector<Reading>& readings, const Reading& reading, const Same& same) {
  const auto place = std::find_if(readings.begin(), readings.end(), same);
  if (place == readings.end()) {
    readings.push_back(reading);
  } else {
    *place = reading;
  }
}

}  // namespace

void keep(std::vector<ProbeReading>& readings, const ProbeReading& reading) {
  keep_where(readings, reading, [&](const ProbeReading& other) {
    return other.probe == reading.probe && other.parameters == reading.parameters;
  });
}

void keep(std::vector<FunctionReading>& readings, const FunctionReading& reading) {
  keep_where(readings, reading, [&](const FunctionReading& other) {
    return other.symbol == reading.symbol && other.kernel == reading.kernel &&
           other.config == reading.config;
  });
}

void keep(std::vector<TimeReading>& readings, const TimeReading& reading) {
  keep_where(readings, reading, [&](const TimeReading& other) {
    return other.kernel == reading.kernel && other.cache == reading.cache &&
           other.launch == reading.launch && other.config == reading.config &&
           other.shape == reading.shape;
  });
}

RunJournal::RunJournal(const std::string& path, const JournalHead& head) : path_(path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) refuse(path, "the journal of the run cannot be written");
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) refuse(path, "cannot be locked");
      throw DataError(path +
                      ": another smtwin is writing it; wait for that run, or give another -o");
    }
    const std::string text = read_all(file_, path_);
    const std::size_t kept = read(text, head);
    if (kept < text.size() && ::ftruncate(file_, static_cast<off_t>(kept)) != 0) {
      refuse(path, "cannot be written");
    }
    if (::lseek(file_, 0, SEEK_END) < 0) refuse(path, "cannot be written");
    if (kept == 0) append_line(head_line(head));
  } catch (...) {
    ::close(file_);
    throw;
  }
}

RunJournal::~RunJournal() { ::close(file_); }

std::size_t RunJournal::read(const std::string& text, const JournalHead& head) {
  std::size_t begin = 0;
  for (int number = 1;; ++number) {
    const std::size_t end = text.find('\n', begin);
    const std::string where = path_ + ": line " + std::to_string(number);
    if (end == std::string::npos) {
      // What a kill cut short was never acknowledged; a text of somebody else's is not ours to cut.
      const bool ours = number > 1 || text.compare(0, kHeadStart.size(), kHeadStart, 0,
                                                   std::min(text.size(), kHeadStart.size())) == 0;
      if (!ours) throw DataError(where + ": not the journal of a run; give another -o");
      return begin;
    }
    const HfObject o = HfObject::parse(text.substr(begin, end - begin), where);
    begin = end + 1;
    if (number == 1) {
      check_same(o, head);
    } else if (o.has("probe")) {
      keep(found_.probes, read_probe_reading(o.object("probe")));
    } else if (o.has("function")) {
      keep(found_.functions, read_function_reading(o.object("function")));
    } else if (o.has("time")) {
      keep(found_.times, read_time_reading(o.object("time")));
    } else {
      throw DataError(where + ": no reading; remove the file to start anew");
    }
  }
}

void RunJournal::append_line(const std::string& line) {
  const std::string text = line + '\n';
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t n = ::write(file_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) refuse(path_, "cannot be written");
    written += static_cast<std::size_t>(n);
  }
  if (::fsync(file_) != 0 && errno != EINVAL) refuse(path_, "cannot be written");
}

void RunJournal::append(const ProbeReading& reading) {
  append_line("{\"probe\": " + write_reading(reading) + "}");
}

void RunJournal::append(const FunctionReading& reading) {
  append_line("{\"function\": " + write_reading(reading) + "}");
}

void RunJournal::append(const TimeReading& reading) {
  append_line("{\"time\": " + write_reading(reading) + "}");
}

void RunJournal::remove() { ::unlink(path_.c_str()); }

}  // namespace smtwin

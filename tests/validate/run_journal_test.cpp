// SPDX-License-Identifier: Apache-2.0
// Journals keep what was measured, and only what belongs together.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "tests/validate/made_up_run.hpp"
#include "validate/runs/run_journal.hpp"

using namespace smtwin;
using Catch::Matchers::Contains;

namespace {

class JournalFile {
 public:
  JournalFile()
      : path_((std::filesystem::temp_directory_path() /
               ("smtwin_journal_" + std::to_string(::getpid()) + ".journal"))
                  .string()) {
    std::filesystem::remove(path_);
  }
  ~JournalFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void write(const std::string& text) const { std::ofstream(path_) << text; }

 private:
  std::string path_;
};

JournalHead head() {
  return {
      .gpu = test::made_up_gpu(), .tool_version = "0.1", .compiler = "nvcc 13.0.0", .plan = "full"};
}

TimeReading reading(std::int64_t m, double seconds) {
  TimeReading t;
  t.kernel = "dense_gemm";
  t.config = {{"block_m", 16}};
  t.shape = {{"m", m}};
  t.seconds = t.p10_s = t.p90_s = seconds;
  t.samples = 9;
  return t;
}

}  // namespace

TEST_CASE("readings come back, the later of two of one thing", "[unit]") {
  const JournalFile file;
  {
    RunJournal journal(file.path(), head());
    journal.append(reading(1, 1e-5));
    journal.append(reading(2, 2e-5));
    journal.append(reading(1, 3e-5));  // its five medians
    journal.append(ProbeReading{.probe = "dram_read", .parameters = {}, .unit = "B/s"});
  }
  const RunJournal journal(file.path(), head());
  REQUIRE(journal.found().times.size() == 2);
  CHECK(journal.found().times[0] == reading(1, 3e-5));
  CHECK(journal.found().times[1] == reading(2, 2e-5));
  CHECK(journal.found().probes.size() == 1);
}

TEST_CASE("readings of another GPU, driver, program or plan are never mixed in", "[errors]") {
  const JournalFile file;
  { RunJournal journal(file.path(), head()); }
  const auto refused = [&](auto change) {
    JournalHead other = head();
    change(other);
    try {
      RunJournal journal(file.path(), other);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused([](JournalHead&) {}).empty());
  CHECK_THAT(refused([](JournalHead& h) { h.gpu.reported = "NVIDIA H100"; }),
             Contains("with GPU \"NVIDIA H200\", now it is \"NVIDIA H100\"; remove that file"));
  CHECK_THAT(refused([](JournalHead& h) { h.gpu.driver = "590"; }), Contains("driver \"580.1\""));
  CHECK_THAT(refused([](JournalHead& h) { h.gpu.cuda_runtime = "12.9"; }),
             Contains("CUDA runtime"));
  CHECK_THAT(refused([](JournalHead& h) { h.tool_version = "0.2"; }), Contains("smtwin version"));
  CHECK_THAT(refused([](JournalHead& h) { h.compiler = "nvcc 12"; }), Contains("compiler"));
  CHECK_THAT(refused([](JournalHead& h) { h.plan = "quick"; }), Contains("plan \"full\""));
  CHECK_THAT(refused([](JournalHead& h) { h.seed = 2; }), Contains("seed \"1\""));
}

TEST_CASE("what was cut short is dropped, what is damaged is refused by line", "[errors]") {
  const JournalFile file;
  {
    RunJournal journal(file.path(), head());
    journal.append(reading(1, 1e-5));
    journal.append(reading(2, 2e-5));
  }
  const std::string whole = file.text();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    file.write(whole.substr(0, length));
    RunJournal journal(file.path(), head());
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<long>(length), '\n');
    REQUIRE(static_cast<long>(journal.found().times.size()) == std::max(0L, lines - 1));
    // The next reading starts a line of its own.
    journal.append(reading(3, 3e-5));
    CHECK(file.text().back() == '\n');
  }
  const std::size_t second = whole.find('\n') + 1;
  std::string damaged = whole;
  damaged[second + 3] = '\x07';
  file.write(damaged);
  CHECK_THROWS_WITH(RunJournal(file.path(), head()), Contains(": line 2: "));
  file.write(whole + "{\"colour\": 1}\n");
  CHECK_THROWS_WITH(RunJournal(file.path(), head()), Contains(": line 4: no reading; remove"));
  for (const std::string text : {"not a journal\n", "notes without an end of line"}) {
    file.write(text);
    CHECK_THROWS_WITH(RunJournal(file.path(), head()), Contains(": line 1: "));
    CHECK(file.text() == text);
  }
}

TEST_CASE("two processes do not write one journal", "[errors]") {
  const JournalFile file;
  const RunJournal journal(file.path(), head());
  CHECK_THROWS_WITH(RunJournal(file.path(), head()), Contains("another smtwin is writing it"));
  CHECK_THROWS_WITH(RunJournal("/nowhere/x.journal", head()), Contains("cannot be written"));
}

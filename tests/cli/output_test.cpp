// SPDX-License-Identifier: Apache-2.0
// Reports are complete or absent: -o replaces a file at once, and a stdout that takes nothing is an
// error.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <streambuf>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using smtwin::test::smtwin_run;
namespace fs = std::filesystem;

namespace {

const std::string kQuestion = "occupancy --gpu sm_120 --threads 128 --regs 64 --smem 4096";

// A folder of its own, removed at the end.
struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / ("smtwin-output-" + std::to_string(::getpid()));
  TemporaryFolder() { fs::create_directories(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A pipe whose reader has gone.
struct ClosedBuffer : std::streambuf {
  int overflow(int) override { return traits_type::eof(); }
};

}  // namespace

TEST_CASE("a report in a file equals the one on stdout and leaves nothing beside it", "[unit]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "report.txt";
  std::ofstream(file) << "an older report";
  const auto ran = smtwin_run(kQuestion + " -o " + file.string());
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.empty());
  CHECK(text_of(file) == smtwin_run(kQuestion).out);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("an error leaves the old file as it was", "[unit]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "report.txt";
  std::ofstream(file) << "an older report";
  CHECK(smtwin_run("occupancy --gpu sm_120 --threads 0 -o " + file.string()).exit_code == 2);
  CHECK(text_of(file) == "an older report");
}

TEST_CASE("a folder is no output file", "[unit]") {
  const TemporaryFolder folder;
  const auto ran = smtwin_run(kQuestion + " -o " + folder.path.string());
  CHECK(ran.exit_code == 2);
  CHECK(ran.err == "error: " + folder.path.string() + ": cannot be written (it is a folder)\n");
}

TEST_CASE("a device is written to, not replaced", "[unit]") {
  CHECK(smtwin_run(kQuestion + " -o /dev/null").exit_code == 0);
  CHECK(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full")) CHECK(smtwin_run(kQuestion + " -o /dev/full").exit_code == 2);
}

TEST_CASE("a stream that takes nothing is an error", "[unit]") {
  ClosedBuffer closed;
  std::ostream out(&closed);
  std::istringstream in;
  std::ostringstream err;
  const int code = smtwin::run({"gpus"}, in, out, err);
  CHECK(code == 2);
  CHECK(err.str().rfind("error: stdout: the report could not be written", 0) == 0);
}

TEST_CASE("the program survives a closed stdout and a full disk with exit 2", "[unit]") {
  const auto exit_code = [](const std::string& redirection) {
    const std::string command =
        std::string(SMTWIN_TEST_PROGRAM) + " " + kQuestion + " " + redirection + " 2>/dev/null";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  CHECK(exit_code(">/dev/null") == 0);
  CHECK(exit_code(">&-") == 2);
  if (fs::exists("/dev/full")) CHECK(exit_code(">/dev/full") == 2);
}

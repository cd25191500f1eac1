// SPDX-License-Identifier: Apache-2.0
// What a verb of the command line is, and running one. A verb declares its flags and computes one
// answer; cli/run.cpp parses, picks the format and writes the report, whole or not at all.
// CLI11 is seen only by .cpp files.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "cli/report.hpp"

namespace CLI {
class App;
}

namespace smtwin {

enum class Format { table, json, csv };

// Flags that every verb has, parsed by run(), and the streams it may use.
struct VerbInput {
  std::string gpu = {};                    // --gpu as typed; "" when absent
  std::vector<std::string> settings = {};  // --set, in order, as typed
  // "--heads 16" pairs that are no flag of the verb, for verbs with takes_kernel_parameters
  std::vector<std::pair<std::string, std::string>> kernel_flags = {};
  std::vector<std::string> verb_flags = {};  // "--threads", ...: what an unknown one may mean
  Format format = Format::table;
  std::string output = {};  // -o as typed; "" when absent
  std::istream& in;         // for "-"
  std::ostream& err;        // warnings; stdout carries the report only
};

// One answer; only the form that was asked for is built.
struct Answer {
  ReportContext context;
  int exit_code = 0;  // 0, or 1 when something lies outside its tolerance
  std::function<void(std::ostream&)> table;
  std::function<std::string()> json;  // text of the JSON value that becomes "result"
  std::function<void(std::ostream&)> csv;
  // What -o FILE receives instead of the report, for verbs that make a file of their own (a
  // profile); the report then goes to stdout.
  std::function<std::string()> file = {};
  std::function<void()> after_file = {};  // once that file is there
};

struct Verb {
  std::string name;
  std::string summary;  // one line of `smtwin --help`
  std::string example;  // a command line that works, shown by --help and run by a test
  bool takes_gpu = true;
  bool takes_kernel_parameters = false;  // any parameter of --kernel is a flag as well
  std::function<void(CLI::App&)> add_flags;
  std::function<Answer(const VerbInput&)> answer;
};

// One a file verb_<name>.cpp. Flag variables live in a shared struct that both functions capture.
Verb gpus_verb();
Verb kernels_verb();
Verb models_verb();
Verb occupancy_verb();
Verb fit_verb();
Verb whatif_verb();
Verb predict_verb();
Verb decode_verb();
Verb validate_verb();
Verb calibrate_verb();

std::vector<Verb> all_verbs();

// The GPU of --gpu with those of `settings` that name GPU fields applied, and the context that
// says so. UsageError when --gpu is absent.
struct GpuChoice {
  GpuSpec gpu;
  ReportContext context;
};
GpuChoice choose_gpu(const std::string& name, const std::vector<std::string>& gpu_settings);

// smtwin as a function: arguments without the program's name. Prints one `error: ...` line to err
// and returns the exit code (0 ok, 1 outside tolerance, 2 usage or data, 3 no GPU). The only place
// that catches.
int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err);

}  // namespace smtwin

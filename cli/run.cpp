// SPDX-License-Identifier: Apache-2.0
// One run of smtwin: find the verb, parse its flags, compute the answer, build the report in
// memory, write it whole or not at all. CLI11 does the parsing; what it complains about becomes
// the same one-line error as everything else.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <ostream>
#include <sstream>

#include "arch/error.hpp"
#include "cli/flag_values.hpp"
#include "cli/output_file.hpp"
#include "cli/verb.hpp"

namespace smtwin {
namespace {

std::string overview(const std::vector<Verb>& verbs) {
  std::ostringstream text;
  text
      << "smtwin: a digital twin of GPU kernels: does a tile fit an SM, what limits it, how long "
         "it runs,\nwhat a decode step then costs\n\n"
         "usage: smtwin VERB [--gpu NAME|FILE] [--format table|json|csv] [--set path=value]...\n\n";
  TextTable table({{"verb", Align::left}, {"answers", Align::left}});
  for (const Verb& verb : verbs) table.add_row({verb.name, verb.summary});
  table.print(text);
  text << "\n`smtwin VERB --help` lists the flags of a verb with an example that works.\n";
  return text.str();
}

const Verb& find_verb(const std::vector<Verb>& verbs, const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (verb.name == name) return verb;
    names.push_back(verb.name);
  }
  const std::string near = did_you_mean(name, names);
  throw UsageError("unknown verb " + quoted(name) +
                   (near.empty() ? "; use " + join(names, ", ") : near) + " (smtwin --help)");
}

Format parse_format(const std::string& text) {
  if (text == "table") return Format::table;
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  throw UsageError("--format " + quoted(text) + ": use table, json or csv");
}

// A message as one line without its full stop.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

// Names of all flags of an app, for suggestions.
std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// What the parser did not know: pairs "--name value" or "--name=value" for a verb that passes them
// to its kernel, an error otherwise.
std::vector<std::pair<std::string, std::string>> kernel_flags(const CLI::App& app,
                                                              const Verb& verb) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const std::vector<std::string> rest = app.remaining();
  const auto add = [&](const std::string& flag, const std::string& value) {
    for (const auto& known : pairs) {
      if (canonical_name(known.first) == canonical_name(flag.substr(2))) {
        throw UsageError(flag + ": give it once, with one value (smtwin " + verb.name + " --help)");
      }
    }
    pairs.emplace_back(flag.substr(2), value);
  };
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& word = rest[i];
    if (word.rfind("--", 0) != 0 || word.size() == 2) {
      throw UsageError("unexpected argument " + quoted(word) + " (smtwin " + verb.name +
                       " --help)");
    }
    const std::size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    if (!verb.takes_kernel_parameters) {
      throw UsageError("unknown flag " + quoted(flag) + did_you_mean(flag, flag_names(app)) +
                       " (smtwin " + verb.name + " --help)");
    }
    if (equals != std::string::npos) {
      add(flag, word.substr(equals + 1));
    } else if (i + 1 < rest.size() && rest[i + 1].rfind("--", 0) != 0) {
      add(flag, rest[++i]);
    } else {
      throw UsageError(flag + ": a value is missing (smtwin " + verb.name + " --help)");
    }
  }
  return pairs;
}

void write_all(std::ostream& out, const std::string& text) {
  out << text << std::flush;
  if (!out) {
    throw DataError(
        "stdout: the report could not be written (reader gone or disk full); "
        "-o FILE writes a file whole or not at all");
  }
}

int run_verb(const Verb& verb, std::vector<std::string> arguments, std::istream& in,
             std::ostream& out, std::ostream& err) {
  VerbInput input{.in = in, .err = err};
  std::string format = "table";
  CLI::App app(verb.summary, "smtwin " + verb.name);
  app.footer("example:\n  smtwin " + verb.example);
  app.allow_extras();
  verb.add_flags(app);
  if (verb.takes_gpu) {
    app.add_option("--gpu", input.gpu, "GPU by any common name, or a JSON file");
  }
  app.add_option("--set", input.settings,
                 "override: path=value of a GPU field or kernel parameter; repeatable")
      ->type_size(1)
      ->allow_extra_args(false);
  app.add_option("--format", format, "table, json or csv");
  app.add_option("-o,--output", input.output, "write the report to a file, whole or not at all");
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    write_all(out, app.help());
    return 0;
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string text = e.what();  // "--threads: At Most 1 required but received 2"
    throw UsageError(text.substr(0, text.find(':')) + ": give it once, with one value (smtwin " +
                     verb.name + " --help)");
  } catch (const CLI::ParseError& e) {
    throw UsageError(one_line(e.what()) + " (smtwin " + verb.name + " --help)");
  }
  input.verb_flags = flag_names(app);
  input.kernel_flags = kernel_flags(app, verb);
  input.format = parse_format(format);

  const Answer answer = verb.answer(input);
  std::string output = input.output;
  if (answer.file && !output.empty()) {
    write_file_atomically(output, answer.file());
    if (answer.after_file) answer.after_file();
    output.clear();
  }
  std::ostringstream report;
  switch (input.format) {
    case Format::table:
      answer.table(report);
      break;
    case Format::json:
      report << render_json(answer.context, answer.json());
      break;
    case Format::csv:
      answer.csv(report);
      break;
  }
  if (output.empty()) {
    write_all(out, report.str());
  } else {
    write_file_atomically(output, report.str());
  }
  return answer.exit_code;
}

int dispatch(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
             std::ostream& err) {
  const std::vector<Verb> verbs = all_verbs();
  if (arguments.empty()) {
    throw UsageError("name a verb, for example `smtwin " + verbs.front().name +
                     "` (smtwin --help lists all)");
  }
  const std::string& first = arguments.front();
  if (first == "--version") {
    write_all(out, "smtwin " + tool_version() + '\n');
    return 0;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    if (arguments.size() == 1) {
      write_all(out, overview(verbs));
      return 0;
    }
    return run_verb(find_verb(verbs, arguments[1]), {"--help"}, in, out, err);
  }
  return run_verb(find_verb(verbs, first), {arguments.begin() + 1, arguments.end()}, in, out, err);
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err) {
  try {
    return dispatch(arguments, in, out, err);
  } catch (const Error& e) {
    err << "error: " << one_line(e.what()) << '\n';
    return e.exit_code();
  } catch (const std::bad_alloc&) {
    err << "error: out of memory; ask for fewer rows at once\n";
    return 2;
  } catch (const std::exception& e) {
    err << "error: internal: " << one_line(e.what()) << '\n';
    return 2;
  }
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// What an interrupted run leaves behind: one JSON line a finished reading, on disk before the next
// one starts (fsync), so that a kill or a power cut costs one reading. A restart reads them and
// carries on. The first line says which GPU, driver, program and plan they belong to; readings of
// another are never mixed in.
#pragma once

#include <cstddef>
#include <string>

#include "validate/runs/run_file.hpp"

namespace smtwin {

// What must be equal for readings to belong together.
struct JournalHead {
  RunGpu gpu;
  std::string tool_version;
  std::string compiler;
  std::string plan;  // "quick", "full", with the kernels asked for
  std::uint64_t seed = 1;
};

class RunJournal {
 public:
  // Creates the file, or reads what is there: a last line cut short is dropped, an empty file
  // begins anew. DataError when it belongs to another GPU, driver, program or plan, holds anything
  // else than readings, or is being written by another process.
  RunJournal(const std::string& path, const JournalHead& head);
  ~RunJournal();
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  // Readings of earlier runs, later ones of the same thing in place of earlier ones.
  const RunFile& found() const { return found_; }

  // On disk when they return. DataError when the disk is full.
  void append(const ProbeReading& reading);
  void append(const FunctionReading& reading);
  void append(const TimeReading& reading);

  void remove();  // the run is complete and kept elsewhere

 private:
  std::size_t read(const std::string& text, const JournalHead& head);  // bytes that count
  void append_line(const std::string& line);

  std::string path_;
  int file_ = -1;
  RunFile found_;
};

// A reading put in place of one of the same probe and parameters, the same function, or the same
// kernel, configuration, shape, cache and launch; added when there is none.
void keep(std::vector<ProbeReading>& readings, const ProbeReading& reading);
void keep(std::vector<FunctionReading>& readings, const FunctionReading& reading);
void keep(std::vector<TimeReading>& readings, const TimeReading& reading);

}  // namespace smtwin

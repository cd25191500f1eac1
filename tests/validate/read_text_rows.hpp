// SPDX-License-Identifier: Apache-2.0
// Measured rows from a text in a test, called t.csv in messages.
#pragma once

#include <sstream>
#include <string>

#include "arch/error.hpp"
#include "validate/measurements/measurement_reader.hpp"

namespace smtwin::test {

inline MeasurementSet read(const std::string& text) {
  std::istringstream in(text);
  MeasurementSet set;
  read_measurements(in, "t.csv", set);
  return set;
}

// What reading complains about; empty when it does not.
inline std::string complaint(const std::string& text) {
  try {
    read(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace smtwin::test

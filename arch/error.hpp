// SPDX-License-Identifier: Apache-2.0
// The error types of smtwin. A message is one line: where, what was found, what is allowed, what
// to do ("config.json: /num_attention_heads: 64 heads cannot be split over --tp 6; use 1, 2, 4").
// Only cli/run.cpp turns them into an exit code; elsewhere one is caught only to add the row at
// fault, or to keep the part of an answer that needs no missing number. "Does not fit" is an
// answer, never an error.
#pragma once

#include <stdexcept>
#include <string>

namespace smtwin {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  // Process exit code that the command line uses for this kind of error.
  virtual int exit_code() const noexcept { return 2; }
};

// A flag or argument that cannot be meant: unknown GPU, 2000 threads, --tp 6 on 64 heads. Exit 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// A file that is missing, malformed, or out of range. Exit 2.
class DataError : public Error {
 public:
  using Error::Error;
};

// The verb needs a GPU and none is there. Exit 3.
class NoDeviceError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 3; }
};

// CUDA refused a call on a GPU that is there: out of memory, a launch that failed, a lost device.
// Exit 3.
class DeviceError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 3; }
};

// The verb needs the CUDA half and this build was made without it. Exit 3.
class NotBuiltError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 3; }
};

}  // namespace smtwin

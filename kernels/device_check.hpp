// SPDX-License-Identifier: Apache-2.0
// CUDA's answers as exceptions: every runtime call goes through check_cuda, every launch is
// followed by check_launch. The header is free of CUDA: an unscoped cudaError_t converts to int.
// Exists only in builds with SMTWIN_CUDA. Errors of the kernel itself come at the next call that
// waits for the device.
#pragma once

#include <string>

namespace smtwin {

// DeviceError in one line unless `status`, a cudaError_t, is success: what was tried, CUDA's name
// of the error and its text. A recoverable error is cleared, so that it is reported only once.
void check_cuda(int status, const std::string& what);

// What the last launch of this thread came to; `kernel` names it.
void check_launch(const std::string& kernel);

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// Clocks, power, temperature and the reasons why a GPU holds its clock down, from NVML, the
// driver's management library. It is opened at run time (dlopen) and its few functions are
// declared here: neither its header nor its presence is needed. Without it every reading is
// unknown, never an error.
// Clocks are what the management controller last sampled; a kernel's own clock (load_state.hpp) is
// exact. Power is the instantaneous draw of the board where the driver has it (else the average
// of the last second), refreshed some tens of times a second.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace smtwin {

struct NvmlReading {
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<double> temperature_c;
  std::optional<std::uint64_t> clock_events;  // why the clock is lower than it could be, bits
};

class Nvml {
 public:
  // The GPU at a PCI address as CUDA writes it ("0000:1B:00.0"); `library` for tests.
  explicit Nvml(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const;              // the library is there and knows the GPU
  std::string driver_version() const;  // empty = unknown
  std::optional<double> max_sm_clock_hz() const;
  std::optional<double> max_memory_clock_hz() const;
  NvmlReading read() const;  // takes microseconds to a few milliseconds

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

// Whether any of them means that the GPU runs slower than asked (power, heat, power brake). Idle,
// application clocks and display clocks do not.
bool is_throttled(std::uint64_t clock_events);

}  // namespace smtwin

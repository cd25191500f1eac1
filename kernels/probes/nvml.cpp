// SPDX-License-Identifier: Apache-2.0
// NVML by dlopen. Signatures and constants follow NVIDIA's NVML API reference; a function that the
// installed driver lacks leaves its reading unknown.
#include "kernels/probes/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace smtwin {
namespace {

using Device = void*;  // nvmlDevice_t, a pointer to an opaque struct
constexpr int kSuccess = 0;
constexpr unsigned kSmClock = 1;  // nvmlClockType_t
constexpr unsigned kMemoryClock = 2;
constexpr unsigned kGpuTemperature = 0;       // nvmlTemperatureSensors_t
constexpr unsigned kInstantPowerField = 186;  // NVML_FI_DEV_POWER_INSTANT, milliwatts
constexpr double kHzPerMhz = 1e6;
constexpr double kWattsPerMilliwatt = 1e-3;

// nvmlFieldValue_t
struct FieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp_us = 0;
  long long latency_us = 0;
  int value_type = 0;  // nvmlValueType_t
  int status = 0;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long long as_unsigned_long_long = 0;
  } value;
};
constexpr int kUnsignedValue = 1;

// Reasons for a lower clock (nvmlClocksEventReason...): software power cap, hardware slowdown, sync
// boost, software and hardware thermal slowdown, power brake. Not among them: idle (0x1),
// application clocks (0x2), display clocks (0x100).
constexpr std::uint64_t kThrottles = 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80;

}  // namespace

struct Nvml::Library {
  using Query = int (*)(Device, unsigned*);
  using KindQuery = int (*)(Device, unsigned, unsigned*);

  void* handle = nullptr;
  Device device = nullptr;
  int (*shutdown)() = nullptr;
  KindQuery clock = nullptr;
  KindQuery max_clock = nullptr;
  KindQuery temperature = nullptr;
  Query power = nullptr;
  Query power_limit = nullptr;
  int (*fields)(Device, int, FieldValue*) = nullptr;
  int (*clock_events)(Device, unsigned long long*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;

  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }

  // One number of the GPU, in base units.
  std::optional<double> ask(Query function, double unit) const {
    unsigned value = 0;
    if (device == nullptr || function == nullptr || function(device, &value) != kSuccess) {
      return std::nullopt;
    }
    return value * unit;
  }

  // One of several of a kind: which clock, which sensor.
  std::optional<double> ask(KindQuery function, unsigned kind, double unit) const {
    unsigned value = 0;
    if (device == nullptr || function == nullptr || function(device, kind, &value) != kSuccess) {
      return std::nullopt;
    }
    return value * unit;
  }

  std::optional<double> instant_power_w() const {
    FieldValue field;
    field.field = kInstantPowerField;
    if (device == nullptr || fields == nullptr || fields(device, 1, &field) != kSuccess ||
        field.status != kSuccess || field.value_type != kUnsignedValue) {
      return std::nullopt;
    }
    return field.value.as_unsigned * kWattsPerMilliwatt;
  }
};

Nvml::Nvml(const std::string& pci_bus_id, const std::string& library)
    : library_(std::make_unique<Library>()) {
  Library& nvml = *library_;
  nvml.handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml.handle == nullptr) return;
  int (*init)() = nullptr;
  int (*by_pci)(const char*, Device*) = nullptr;
  nvml.load(init, "nvmlInit_v2");
  nvml.load(by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || by_pci == nullptr || init() != kSuccess) return;
  nvml.load(nvml.shutdown, "nvmlShutdown");
  nvml.load(nvml.clock, "nvmlDeviceGetClockInfo");
  nvml.load(nvml.max_clock, "nvmlDeviceGetMaxClockInfo");
  nvml.load(nvml.power, "nvmlDeviceGetPowerUsage");
  nvml.load(nvml.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  nvml.load(nvml.fields, "nvmlDeviceGetFieldValues");
  nvml.load(nvml.temperature, "nvmlDeviceGetTemperature");
  nvml.load(nvml.driver_version, "nvmlSystemGetDriverVersion");
  nvml.load(nvml.clock_events, "nvmlDeviceGetCurrentClocksEventReasons");
  if (nvml.clock_events == nullptr) {  // its name before driver 535
    nvml.load(nvml.clock_events, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  if (by_pci(pci_bus_id.c_str(), &nvml.device) != kSuccess) nvml.device = nullptr;
}

Nvml::~Nvml() {
  if (library_->shutdown != nullptr) library_->shutdown();
  if (library_->handle != nullptr) dlclose(library_->handle);
}

bool Nvml::available() const { return library_->device != nullptr; }

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};  // NVML asks for at least 80
  if (library_->driver_version == nullptr ||
      library_->driver_version(text.data(), text.size()) != kSuccess) {
    return "";
  }
  return text.data();
}

std::optional<double> Nvml::max_sm_clock_hz() const {
  return library_->ask(library_->max_clock, kSmClock, kHzPerMhz);
}

std::optional<double> Nvml::max_memory_clock_hz() const {
  return library_->ask(library_->max_clock, kMemoryClock, kHzPerMhz);
}

NvmlReading Nvml::read() const {
  const Library& nvml = *library_;
  NvmlReading reading;
  reading.sm_clock_hz = nvml.ask(nvml.clock, kSmClock, kHzPerMhz);
  reading.memory_clock_hz = nvml.ask(nvml.clock, kMemoryClock, kHzPerMhz);
  reading.power_w = nvml.instant_power_w();
  if (!reading.power_w) reading.power_w = nvml.ask(nvml.power, kWattsPerMilliwatt);
  reading.power_limit_w = nvml.ask(nvml.power_limit, kWattsPerMilliwatt);
  reading.temperature_c = nvml.ask(nvml.temperature, kGpuTemperature, 1.0);
  unsigned long long events = 0;
  if (nvml.device != nullptr && nvml.clock_events != nullptr &&
      nvml.clock_events(nvml.device, &events) == kSuccess) {
    reading.clock_events = events;
  }
  return reading;
}

bool is_throttled(std::uint64_t clock_events) { return (clock_events & kThrottles) != 0; }

}  // namespace smtwin

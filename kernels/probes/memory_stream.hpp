// SPDX-License-Identifier: Apache-2.0
// Bandwidth of DRAM and L2, as a function of how much is under way. A grid of SMs x ctas_per_sm
// CTAs of 256 threads walks over the data; every thread issues n independent 16-byte loads, then
// consumes them, so that an SM has at most
//   bytes_in_flight_per_sm = ctas_per_sm x 256 x n x 16
// outstanding. Little's law, bandwidth = min(peak, bytes in flight / latency), shows as a line that
// bends at the peak. Unit: B/s by events over 1 GiB.
//
//   dram_read        4 GiB buffer, another quarter each repetition: nothing is left in L2
//   dram_read_async  the same through cp.async; stages of a ring, refilled one by one
//   dram_write       stores; L2 is full of unwritten lines before and after (second repetition on)
//   dram_copy        half read, half written, both counted; a plain loop, the driver's own copy can
//                    reach several percent more
//   l2_read          working_set_bytes, a fraction of L2, read until 1 GiB has passed; L1 bypassed
//   l2_write
//
// How they mislead. The event pair adds about 3 us: 1 % at the peak, and close to half of the time
// where a working set of 32 MiB is read only once: L2 then looks as slow as DRAM. Batches of loads
// drain before the next batch starts, so the mean in flight is below the figure given; the ring of
// dram_read_async keeps it up and reaches a few percent more with the same bytes. The first
// repetition of a read after writes pays for their write-back. On chips with a divided L2 (GA100,
// GH100) half of the reads cross to the far half and a working set may be held twice: rates fall
// before the set reaches the nominal size. For stores, bytes_in_flight_per_sm is what the threads
// issue back to back; nothing waits for them.
#pragma once

#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

inline constexpr int kStreamThreads = 256;
inline constexpr int kStreamAccessBytes = 16;

std::vector<ProbePoint> memory_stream_points(const ProbeGpu& gpu, ProbeEffort effort);
double run_memory_stream(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin

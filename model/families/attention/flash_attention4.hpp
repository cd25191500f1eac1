// SPDX-License-Identifier: Apache-2.0
// FlashAttention 4 decode of 512-wide heads on Hopper (vLLM), where K and V share storage:
//   T = fixed_time + [memory and KV/(n*splits)/cta_rate] + N*(combine_cta + N*combine_scan)
// n = B*Hk, splits = SMs/n within 1..32. Up to 512 sequences the combine grid has N = B*ceil(Hq/8)
// CTAs and each searches its sequence, hence the square; above, nothing is split and a scan
// B^2 * sequence_scan remains. All inferred from 36 rows, no source was read.
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class FlashAttention4 {
 public:
  struct Work {
    double splits = 1;
    double combine_ctas = 0;
    double scanned = 0;  // sequences of an unsplit batch
    double cta_bytes = 0;
    DecodeTraffic traffic;
  };

  FlashAttention4(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

 private:
  TimingGpu gpu_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, rate_, combine_, combine_scan_, sequence_scan_;
};

}  // namespace smtwin

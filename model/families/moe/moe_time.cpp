// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace smtwin {

MoeTimeModel::MoeTimeModel(const TimingGpu& gpu, const MoeImplementation& how)
    : gpu_(gpu), how_(how), format_(moe_format(how, gpu)), constants_(gpu, how) {}

namespace {
MoeRouting uniform_routing(const MoeShape& s) {
  MoeRouting r;
  const double el = s.local_experts(), m = s.tokens * s.topk / s.experts;
  r.active_experts = el * (1 - std::pow(1 - s.topk / s.experts, s.tokens));
  r.rows = el * m;
  r.tokens_seen = s.tokens;
  for (std::size_t i = 0; i < kMoeTileRows.size(); ++i) {
    const double b = kMoeTileRows[i];
    double t = 1 - std::pow(1 - s.topk / s.experts, s.tokens);
    for (double j = 1;; ++j) {
      const double z = (j * b + .5 - m) / std::sqrt(2 * m);
      if (z > 4) break;
      t += .5 * std::erfc(z);
    }
    r.tiles[i] = el * t;
  }
  return r;
}
}  // namespace

MoePoint MoeTimeModel::prepare(const MoeShape& s, const MoeRouting& r) const {
  MoePoint p = prepare_work(s, r);
  MoeShape t = s;
  if (getenv("TB")) t.tokens = std::min(std::exp2(std::floor(std::log2(s.tokens))), atof(getenv("TB")));
  if (how_.kernel == MoeKernel::cutlass && getenv("TU")) {
    MoePoint q = prepare_work(t, uniform_routing(t));
    p.tuner = q.gemm; p.tuner_weights_bytes = q.working_weights_bytes; p.tuner_row_bytes = q.row_bytes_unit;
  } else { p.tuner = p.gemm; p.tuner_weights_bytes = p.working_weights_bytes; }
  return p;
}

MoePoint MoeTimeModel::prepare_work(const MoeShape& s, const MoeRouting& r) const {
  MoePoint p;
  p.shape = s;
  const bool triton = how_.triton();
  const double h = s.hidden, i = s.inter_per_rank(), g = s.gated ? 2 : 1;
  const bool bare = moe_is_bare_kernel(how_, s);
  const double tokens = bare && s.ep > 1 ? r.tokens_seen : s.tokens;
  const double all = s.tokens * s.topk;
  const double zb = format_.weight_bytes, ab = format_.activation_bytes;
  const double S = gpu_.sm_count;
  if (triton) {
    const bool trt = how_.kernel == MoeKernel::triton_trtllm;
    p.pairs = trt || bare ? r.rows : all;
    const double quant = how_.dtype == MoeDtype::fp8_block && !trt ? 3 : 0;
    p.row_bytes_unit = tokens * h * (2 + quant) + r.rows * i * (4 * g + 2) +
                       p.pairs * (2 * g * i + 4 * h + quant * i + (trt ? 2 * g * i : 0));
  } else {
    p.pairs = all;
    const double moved = how_.kernel == MoeKernel::marlin ? std::max(all, r.rows) : r.rows;
    p.token_bytes_unit = s.tokens * h;
    if (how_.dtype == MoeDtype::fp8_block && getenv("PADR")) {
      const int b = atoi(getenv("PADR"));
      const double padded = r.tiles_of(b) * b;
      p.row_bytes_unit = getenv("PADX") ? padded * (h + i) * atof(getenv("PADX")) + r.rows * h * (2 + ab) + moved * (i * (4 * g + ab) + h * 4) : padded * h * (2 + ab) + padded * (i * (4 * g + ab) + h * 4);
    } else
    p.row_bytes_unit = r.rows * h * (2 + ab) + moved * (i * (4 * g + ab) + h * 4);
  }
  p.working_weights_bytes = r.active_experts * (g + 1) * h * i * zb;
  const auto tiles = moe_tiles(how_, gpu_, s, tokens);
  p.tile_count = static_cast<int>(tiles.size());
  for (int m = 0; m < 2; ++m) {
    MoeGemmWork& gemm = p.gemm[static_cast<std::size_t>(m)];
    const double N = m == 0 ? g * i : h, K = m == 0 ? h : i;
    gemm.weight_bytes = r.active_experts * N * K * zb;
    gemm.unaligned = std::fmod(K, 16) != 0;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const MoeTile& tile = tiles[t];
      p.tile[t] = tile;
      MoeTileWork& w = gemm.tiles[t];
      const double bm = tile.rows, bn = tile.columns, bk = tile.depth;
      const double nt = std::ceil(N / bn), kt = std::ceil(K / bk);
      const double ct = r.tiles_of(tile.rows) * nt;
      double n = 0;
      if (how_.kernel == MoeKernel::marlin) {
        n = std::max(ct / S, 1.0);
        w.rounds = n;
      } else if (triton) {
        n = ct < 2 * S ? std::ceil(ct / S) : ct / S + 0.5;
      } else {
        n = std::ceil(ct / S);
        w.rounds = std::ceil(ct / (S * tile.ctas_per_sm));
      }
      w.ctas = ct / S;
      w.occ = tile.ctas_per_sm;
      w.math_s = n * 2 * bm * bn * kt * bk / (format_.flops_per_s / S);
      w.feed_bytes = n * (bm * ab + bn * zb) * kt * bk;
      {
        const double tm = r.tiles_of(tile.rows) * bm;
        w.empty_bytes = tm > 0 ? n * bm * ab * kt * bk * (tm - r.rows) / tm : 0;
      }
      const bool own = triton && t == 0;
      w.steps = kt * (own || how_.kernel == MoeKernel::marlin ? 1 : bk / 64);
      w.remote_ctas = triton && t == 0 ? std::max(p.pairs - r.rows, 0.0) / bm * nt / S : 0;
      w.narrow = how_.kernel == MoeKernel::triton_trtllm || (how_.kernel == MoeKernel::triton_sglang && how_.dtype == MoeDtype::bf16 && bm > 16);
      w.wide = !(own && (how_.kernel == MoeKernel::triton_sglang ? bm == 16 || how_.dtype == MoeDtype::fp8_block : how_.dtype == MoeDtype::fp8_block ? bm < 64 : bm < 64));
    }
  }
  return p;
}

double MoeTimeModel::seconds(const MoePoint& p, std::span<const double> values, CacheState cache,
                             int& choice, bool search) const {
  const auto v = [&](MoeConstant c) { return constants_.value(c, values); };
  const bool triton = how_.triton();
  const double dram = v(MoeConstant::dram_rate), warm = v(MoeConstant::warm_rate);
  const double aux = v(MoeConstant::token_bytes) * p.token_bytes_unit + v(MoeConstant::row_bytes) * p.row_bytes_unit + (p.shape.topk == 1 ? v(MoeConstant::input_weight) * p.shape.tokens * p.shape.hidden : 0);
  const double L = gpu_.hopper() ? 4000e9 : 3500e9, cap = gpu_.l2_bytes * (gpu_.hopper() ? .8 : .96);
  const double fill = (p.working_weights_bytes + 0.3 * aux) / cap;
  const double f2 = fill * fill, f4 = f2 * f2, f8 = f4 * f4;
  const double hot = cache == CacheState::cold ? 0 : 1 / (1 + f8 * f4 * f2);
  const double hot_aux = 1 / (1 + (aux / cap) * (aux / cap));
  const double eff0 = v(MoeConstant::math_share);
  const double eff1 = constants_.has(MoeConstant::math_share_wide) ? v(MoeConstant::math_share_wide) : eff0;
  const double feed_rate = v(MoeConstant::feed_rate), tk = v(MoeConstant::step), tt = v(MoeConstant::tile);
  const double occ = v(MoeConstant::resident), unal = v(MoeConstant::unaligned), narrow = v(MoeConstant::narrow_share);
  const double pad = v(MoeConstant::empty_row);
  double total = 0;
  int picked = 0;
  const double nw = p.gemm[0].tiles[0].narrow ? narrow : 1;
  const auto gemm_s = [&](const MoeGemmWork& g, int t, double hotw) {
      const double slow = g.unaligned ? unal : 1;
      const MoeTileWork& w = g.tiles[static_cast<std::size_t>(t)];
      const double mem = g.weight_bytes * (hotw / warm + (1 - hotw) / (dram * nw));
      double rounds = w.rounds;
      if (triton) {
        const double c = w.ctas / (occ * (getenv("OCC") ? w.occ : 1));
        rounds = c <= 1 ? 1 : c < 3 ? std::ceil(c) : c + .5;
      }
      const double lagw = hotw + (1 - hotw) * gpu_.dram_latency_s / gpu_.l2_latency_s;
      const double comp = w.math_s / (w.wide ? eff1 : eff0);
      const double feed = (w.feed_bytes + pad * w.empty_bytes) / feed_rate * slow;
      const double lat = rounds * (w.steps * tk * slow * lagw + tt);
      if (triton && getenv("PN")) { const double pn=atof(getenv("PN")); return std::pow(std::pow(mem, pn) + std::pow(comp, pn) + std::pow(feed, pn) + std::pow(lat, pn), 1 / pn);}
      return std::sqrt(mem * mem + comp * comp + feed * feed + lat * lat);
  };
  double hott = hot;
  if (search && how_.kernel == MoeKernel::cutlass) {
    const double y = p.tuner_weights_bytes / cap, y2 = y*y, y4=y2*y2, y8=y4*y4;
    hott = 1 / (1 + y8*y4*y2);
  }
  for (int m = 0; m < 2; ++m) {
    const MoeGemmWork& g = p.gemm[static_cast<std::size_t>(m)];
    int at = m == 0 ? choice % 8 : choice / 8;
    if (search) {
      double best = 0;
      at = 0;
      for (int t = 0; t < p.tile_count; ++t) {
        const double s = gemm_s(p.tuner[static_cast<std::size_t>(m)], t, hott);
        if (t == 0 || s < best) best = s, at = t;
      }
    }
    picked += m == 0 ? at : 8 * at;
    total += gemm_s(g, at, hot) + g.tiles[0].remote_ctas / (occ*(getenv("OCC") ? g.tiles[0].occ : 1)) * v(MoeConstant::remote_tile);
  }
  choice = picked;
  total += aux * (hot_aux / L + (1 - hot_aux) / dram);
  const MoeShape& s = p.shape;
  return total + v(MoeConstant::fixed) + v(MoeConstant::per_expert) * s.local_experts() + v(MoeConstant::per_pair) * p.pairs +
         v(MoeConstant::per_column) * s.hidden / 1024 + (s.tokens > (getenv("TS")?atof(getenv("TS")):256) ? v(MoeConstant::sort) : 0) + (s.topk > 8 ? v(MoeConstant::slow_topk) : 0) +
         (s.topk == 1 ? v(MoeConstant::single_expert) : 0) + (s.ep > 1 ? v(MoeConstant::ep_routing) : 0);
}

}  // namespace smtwin

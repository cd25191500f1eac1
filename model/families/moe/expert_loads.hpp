// SPDX-License-Identifier: Apache-2.0
// How many (token, expert) pairs each expert receives, for the two ways in which benchmarks make
// routings up. Experts are laid out rank by rank: rank r of `ep` holds experts r E/ep .. (r+1)
// E/ep.
//
// Power law with exponent a: expert e draws a weight x_e from the density x^-a on [m, M]; its load
// is its share of the tokens*topk pairs, rounded, at most one per token. What rounding and the cap
// leave over or short is settled rank by rank, one pair at a time, with the emptiest (fullest)
// expert of the rank. The heaviest rank becomes rank 0, the one that is timed.
//   m, M = 1, 0.8 tokens   when tokens*topk > experts, else 0.01, 2
// Source: the data collector of the AIConfigurator performance database, as its rows show it.
// Draws come from a counter-based generator of 64 bits, the same on every platform; which draws the
// benchmark itself made is unknown, so features are averages over several of ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace smtwin {

// One draw: the share of the pairs each expert would get, unrounded; they sum to 1. The random
// numbers are stratified, one in each of `experts` equal parts of [0, 1), in random order.
std::vector<double> power_law_shares(std::int64_t tokens, int topk, int experts, double exponent,
                                     int draw);

// Whole loads of all experts, heaviest rank first. `shares` as above; `ep` divides their number.
std::vector<std::int64_t> loads_from_shares(std::span<const double> shares, std::int64_t tokens,
                                            int topk, int ep);

// Adds `pairs` one at a time to the lowest entry (first of equals) that is below `cap`; stops when
// all are full.
void pour_in(std::span<std::int64_t> loads, std::int64_t pairs, std::int64_t cap);
// Takes `pairs` one at a time from the highest entry (first of equals); stops when all are 0.
void pour_out(std::span<std::int64_t> loads, std::int64_t pairs);

}  // namespace smtwin

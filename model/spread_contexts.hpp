// SPDX-License-Identifier: Apache-2.0
// Contexts of a batch from their mean and spread: the quantiles (i + 1/2) / n of a log-normal
// distribution with that coefficient of variation, scaled to the mean exactly, in an order that
// mixes long and short ones as arriving requests do. A distribution is assumed: serving logs give
// means, rarely more.
#pragma once

#include <cstdint>
#include <vector>

namespace smtwin {

// `sequences` lengths of at least one token; all equal when cv = 0. cv < 0 is taken as 0.
std::vector<double> spread_contexts(std::int64_t sequences, double mean_tokens, double cv);

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// The verbs in the order of `smtwin --help`.
#include "cli/verb.hpp"

namespace smtwin {

std::vector<Verb> all_verbs() {
  return {gpus_verb(),   kernels_verb(), models_verb(), occupancy_verb(), fit_verb(),
          whatif_verb(), predict_verb(), decode_verb(), validate_verb(),  calibrate_verb()};
}

}  // namespace smtwin

// SPDX-License-Identifier: Apache-2.0
// The JSON envelope: schema_version, what the answer rests on, and the answer. A script that reads
// one verb's report can read all of them.
#include <nlohmann/json.hpp>

#include "cli/report.hpp"

namespace smtwin {
namespace {
constexpr int kSchemaVersion = 1;
}

std::string tool_version() { return SMTWIN_VERSION; }

std::string render_json(const ReportContext& context, const std::string& result_json) {
  using Json = nlohmann::ordered_json;
  Json overrides = Json::array();
  for (const AppliedOverride& o : context.overrides) {
    Json entry = {{"path", o.path}, {"before", o.before}, {"after", o.after}};
    if (!o.reason.empty()) entry["reason"] = o.reason;
    overrides.push_back(std::move(entry));
  }
  Json envelope;
  envelope["schema_version"] = kSchemaVersion;
  envelope["context"] = {{"tool", "smtwin"}, {"version", tool_version()}};
  envelope["context"]["gpu"] = context.gpu.empty() ? Json(nullptr) : Json(context.gpu);
  envelope["context"]["gpu_file"] =
      context.gpu_file.empty() ? Json(nullptr) : Json(context.gpu_file);
  envelope["context"]["overrides"] = std::move(overrides);
  const CalibrationContext& calibration = context.calibration;
  envelope["context"]["calibration"] = calibration.fitted_on.empty()
                                           ? Json(nullptr)
                                           : Json{{"fitted_on", calibration.fitted_on},
                                                  {"fingerprint", calibration.fingerprint},
                                                  {"provenance", calibration.provenance}};
  envelope["result"] = Json::parse(result_json);
  // Names may come from a user's file in any encoding; a report is always valid UTF-8.
  return envelope.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace smtwin

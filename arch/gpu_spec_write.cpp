// SPDX-License-Identifier: Apache-2.0
// Writes a GPU file, one line a field, and describes the fields for people. Both walk the table of
// gpu_fields.cpp. Shipped files are in exactly this form.
#include "arch/gpu_fields.hpp"
#include "arch/gpu_spec_io.hpp"
#include "arch/json_text.hpp"

namespace smtwin {
namespace {

std::string text_list(const std::vector<std::string>& texts, const std::string& separator) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : separator) + json_quoted(text);
  return list;
}

std::string entry_text(const GpuSpec& gpu, const GpuField& field) {
  const auto found = gpu.sources.find(std::string(field.path));
  const Source source = found == gpu.sources.end() ? Source{} : found->second;
  const bool list = field.kind == FieldKind::integer_list;
  std::string text = std::string("{\"value\": ") + (list ? "[" : "") + field_text(field.get(gpu)) +
                     (list ? "]" : "") + ", \"provenance\": \"" +
                     std::string(to_string(source.provenance)) +
                     "\", \"source\": " + json_quoted(source.source);
  if (!source.note.empty()) text += ", \"note\": " + json_quoted(source.note);
  return text + "}";
}

}  // namespace

std::string write_gpu_spec(const GpuSpec& gpu) {
  std::string text = "{\n  \"schema_version\": " + std::to_string(kGpuSchemaVersion) +
                     ",\n  \"name\": " + json_quoted(gpu.name) +
                     ",\n  \"display_name\": " + json_quoted(gpu.display_name) +
                     ",\n  \"aliases\": [" + text_list(gpu.aliases, ", ") +
                     "],\n  \"compute_capability\": \"" +
                     std::to_string(gpu.compute_capability.major) + "." +
                     std::to_string(gpu.compute_capability.minor) + "\",\n  \"notes\": [";
  if (!gpu.notes.empty()) text += "\n    " + text_list(gpu.notes, ",\n    ") + "\n  ";
  text += "]";
  std::string open_group;
  for (const GpuField& field : gpu_fields()) {
    const auto [group, key] = field_key(field.path);
    const bool same_group = group == open_group;
    if (!same_group && !open_group.empty()) text += "\n  }";
    if (!same_group && !group.empty()) text += ",\n  \"" + group + "\": {";
    text += !same_group && !group.empty() ? "\n" : ",\n";
    text += (group.empty() ? "  \"" : "    \"") + key + "\": " + entry_text(gpu, field);
    open_group = group;
  }
  if (!open_group.empty()) text += "\n  }";
  return text + "\n}\n";
}

std::vector<FieldInfo> describe_fields(const GpuSpec& gpu) {
  std::vector<FieldInfo> fields;
  for (const GpuField& field : gpu_fields()) {
    const std::string path(field.path);
    const auto source = gpu.sources.find(path);
    fields.push_back({path, std::string(field.unit), std::string(field.meaning),
                      field_text(field.get(gpu)),
                      source == gpu.sources.end() ? Source{} : source->second});
  }
  return fields;
}

}  // namespace smtwin

#include "config/read/processors/processor_settings.h"

#include <algorithm>
#include <cstdint>

#include "config/read/processors/processor_readers.h"

namespace sluice::config {
namespace {

constexpr Choice<std::string_view> kPhases[] = {
    {kProcessorPhases[0], kProcessorPhases[0]}, {kProcessorPhases[1], kProcessorPhases[1]},
    {kProcessorPhases[2], kProcessorPhases[2]}, {kProcessorPhases[3], kProcessorPhases[3]},
    {kProcessorPhases[4], kProcessorPhases[4]}, {kProcessorPhases[5], kProcessorPhases[5]},
    {kProcessorPhases[6], kProcessorPhases[6]}};

std::optional<bool> optionalBoolean(FieldReader& reader, std::string_view key) {
  if (!reader.has(key)) return std::nullopt;
  return reader.boolean(key, false);
}

}  // namespace

std::size_t phaseIndex(std::string_view phase) {
  const auto found = std::find(std::begin(kProcessorPhases), std::end(kProcessorPhases), phase);
  return static_cast<std::size_t>(found - std::begin(kProcessorPhases));
}

std::string_view readProcessorPhase(FieldReader& reader) { return reader.choice("phase", kPhases, std::string_view()); }

ProcessorSettings readProcessorSettings(FieldReader& reader) {
  ProcessorSettings settings;
  if (const auto priority = reader.integer("priority", INT32_MIN, INT32_MAX)) {
    settings.priority = static_cast<std::int32_t>(*priority);
  }
  settings.failOpen = readFailOpen(reader);
  settings.preAuth = optionalBoolean(reader, "preAuth");
  settings.timeout = reader.duration("timeout");
  return settings;
}

}  // namespace sluice::config

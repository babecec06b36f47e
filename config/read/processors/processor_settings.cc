#include "config/read/processors/processor_settings.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "config/read/processors/processor_readers.h"

namespace sluice::config {
namespace {

constexpr Choice<bool> kFailureModes[] = {{"FailOpen", true}, {"FailClosed", false}, {"open", true}, {"closed", false}};
/// Kubernetes uses these words for its webhooks.
constexpr Choice<bool> kFailurePolicies[] = {{"Ignore", true}, {"Fail", false}};

}  // namespace

std::size_t phaseIndex(std::string_view phase) {
  const auto found = std::find(std::begin(kProcessorPhases), std::end(kProcessorPhases), phase);
  return static_cast<std::size_t>(found - std::begin(kProcessorPhases));
}

std::optional<bool> readFailOpen(FieldReader& use) {
  struct FailureModeSpelling {
    std::string_view key;
    std::optional<bool> failOpen = std::nullopt;
  };
  FailureModeSpelling spellings[] = {{"failOpen"}, {"failureMode"}, {"failurePolicy"}};
  use.read("failOpen", spellings[0].failOpen);
  use.read("failureMode", spellings[1].failOpen, kFailureModes, /*ignoreCase=*/true);
  use.read("failurePolicy", spellings[2].failOpen, kFailurePolicies, /*ignoreCase=*/true);
  const FailureModeSpelling* said = nullptr;
  for (const FailureModeSpelling& spelling : spellings) {
    if (!spelling.failOpen) continue;
    if (said != nullptr && *said->failOpen != *spelling.failOpen) {
      use.error(spelling.key, "contradicts " + std::string(said->key));
    }
    if (said == nullptr) said = &spelling;
  }
  return said == nullptr ? std::nullopt : said->failOpen;
}

void readProcessorSettings(FieldReader& reader, ProcessorSettings& settings) {
  reader.read("priority", settings.priority, {INT32_MIN, INT32_MAX});
  settings.failOpen = readFailOpen(reader);
  reader.read("preAuth", settings.preAuth);
  reader.read("timeout", settings.timeout);
}

}  // namespace sluice::config

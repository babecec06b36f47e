#include "proxy/processing/phase.h"

#include <algorithm>
#include <array>

namespace sluice::processing {
namespace {

constexpr std::array<std::string_view, kPhases> kNames = {"request-headers", "request-body",     "connect",
                                                          "backend-request", "backend-response", "response-headers",
                                                          "response-body"};

}  // namespace

std::string_view phaseName(Phase phase) { return kNames[static_cast<std::size_t>(phase)]; }

std::optional<Phase> phaseFrom(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Phase>(found - kNames.begin());
}

}  // namespace sluice::processing

// The seven phases of a request's way through its processors (E-79, E-90), in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::processing {

enum class Phase : std::uint8_t {
  kRequestHeaders,
  kRequestBody,
  kConnect,
  kBackendRequest,
  kBackendResponse,
  kResponseHeaders,
  kResponseBody
};
inline constexpr std::size_t kPhases = 7;

/// "request-headers" and so on.
std::string_view phaseName(Phase phase);
std::optional<Phase> phaseFrom(std::string_view name);

/// Its steps may change the request that the Backend gets.
constexpr bool isOfRequest(Phase phase) { return phase <= Phase::kBackendRequest; }
/// Bodies exist in it (E-94).
constexpr bool hasBody(Phase phase) {
  return phase == Phase::kRequestBody || phase == Phase::kBackendRequest || phase == Phase::kBackendResponse ||
         phase == Phase::kResponseBody;
}

}  // namespace sluice::processing

// The seven phases of a request's way through its processors, in their order. Configurations name them.
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

/// Returns the bit of this phase in a set of phases.
constexpr std::uint8_t bitOf(Phase phase) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(phase)); }

/// Returns "request-headers" and so on.
std::string_view phaseName(Phase phase);
std::optional<Phase> phaseFrom(std::string_view name);

/// Returns true if steps of this phase may change the request that the Backend gets.
constexpr bool isOfRequest(Phase phase) { return phase <= Phase::kBackendRequest; }
/// Returns true if steps of this phase can see a body.
constexpr bool hasBody(Phase phase) {
  return phase == Phase::kRequestBody || phase == Phase::kBackendRequest || phase == Phase::kBackendResponse ||
         phase == Phase::kResponseBody;
}

}  // namespace sluice::processing

#include "proxy/processing/verdict.h"

#include <array>
#include <cstddef>

namespace sluice::processing {

std::string_view causeName(Cause cause) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "error", "timeout", "dropped", "over_limit", "over_limit", "bad_body", "script_error", "budget", "budget"};
  return kNames[static_cast<std::size_t>(cause)];
}

Cause causeOf(const base::Error& error) {
  using base::ErrorType;
  const auto isOneOf = [&](auto... types) { return ((error.type == types) || ...); };
  if (isOneOf(ErrorType::kConnectionTimeout, ErrorType::kDnsTimeout, ErrorType::kHttpResponseTimeout)) {
    return Cause::kTimeout;
  }
  return isOneOf(ErrorType::kConnectionLimitReached, ErrorType::kProcessorCapacityReached) ? Cause::kNoRoom
                                                                                           : Cause::kError;
}

Verdict Verdict::denyDestination() {
  return reply({base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                            "the request may not go to any address of its destination")});
}

}  // namespace sluice::processing

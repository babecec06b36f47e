// The failures of one worker's exchanges as the live page shows them: how many by whose fault, the latest, and the
// callers that were denied.
//
// Plain values without secrets: no header, no path and no query. Texts that came from outside are cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/base/terms/caller.h"

namespace sluice::exchange {

inline constexpr std::size_t kErrorOrigins = static_cast<std::size_t>(base::ErrorOrigin::kInternal) + 1;

struct RecentFailure {
  base::WallTime time{};
  std::string requestId;
  base::ErrorOrigin origin = base::ErrorOrigin::kInternal;
  base::ErrorType type = base::ErrorType::kProxyInternalError;
  std::uint16_t status = 0;  // of the answer; 0: there was none
  std::string message;
  std::string method;
  std::string authority;
  std::string gateway;
  std::string route;
  std::string backend;
  std::string client;  // the principal, or else "namespace/serviceAccount", or else the address
};

/// The denials of one caller by one party.
struct DeniedCaller {
  std::string client;  // as in RecentFailure
  base::Assurance assurance = base::Assurance::kNone;
  std::string by;  // a policy with its rule, a use of a processor, or a part of the gateway
  base::ErrorType type = base::ErrorType::kHttpRequestDenied;
  std::string authority;  // of the last one
  std::uint64_t count = 0;
  base::WallTime last{};
};

struct FailureReport {
  /// By origin and type, since the worker began.
  std::array<std::array<std::uint64_t, base::kErrorTypeCount>, kErrorOrigins> counts{};
  std::vector<RecentFailure> recent = {};
  std::vector<DeniedCaller> denied = {};
};

}  // namespace sluice::exchange

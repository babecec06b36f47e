// The values that outlier detection takes and gives: a failure of a Backend or of one of its endpoints, and the
// ejection that follows from failures.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/base/clock.h"

namespace sluice::routing {

/// A status of 500 or more, or no answer.
struct PeerFailure {
  base::MonotonicTime now;
  base::WallTime at{};          // the same moment as people read it
  bool isGatewayError = false;  // a status from 502 to 504, or no answer
};

/// The bound that failures have reached.
struct EjectionCause {
  enum class Kind : std::uint8_t {
    kErrors,         // so many failures in a row
    kGatewayErrors,  // so many gateway errors in a row
    kShare,          // so many of the requests in an interval have failed
    kAgain           // it has not served since its last ejection
  };
  Kind kind = Kind::kErrors;
  std::uint64_t failures = 1;
  std::uint64_t requests = 0;  // of kShare
};

struct Ejection {
  EjectionCause cause;
  base::Duration time;  // how long it lasts
};

/// Returns why and for how long, as "for 30s: 5 failures in a row".
std::string ejectionText(const Ejection& ejection);

}  // namespace sluice::routing

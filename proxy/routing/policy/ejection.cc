#include "proxy/routing/policy/ejection.h"

#include "proxy/base/duration.h"

namespace sluice::routing {
namespace {

std::string causeText(const EjectionCause& cause) {
  const bool isOne = cause.failures == 1;
  switch (cause.kind) {
    case EjectionCause::Kind::kErrors:
      return std::to_string(cause.failures) + (isOne ? " failure" : " failures in a row");
    case EjectionCause::Kind::kGatewayErrors:
      return std::to_string(cause.failures) + (isOne ? " gateway error" : " gateway errors in a row");
    case EjectionCause::Kind::kShare:
      return std::to_string(cause.failures) + " of " + std::to_string(cause.requests) + " requests have failed";
    case EjectionCause::Kind::kAgain:
      break;
  }
  return "it still fails after the last ejection";
}

}  // namespace

std::string ejectionText(const Ejection& ejection) {
  return "for " + base::formatDuration(ejection.time) + ": " + causeText(ejection.cause);
}

}  // namespace sluice::routing

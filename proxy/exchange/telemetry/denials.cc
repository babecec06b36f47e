#include "proxy/exchange/telemetry/denials.h"

#include <string_view>

#include "proxy/exchange/egress/egress_state.h"

namespace sluice::exchange {
namespace {

/// The party whose rule or limit denies a request.
enum class DeniedBy : std::uint8_t {
  kNobody,  // the request was not denied
  kStep,    // a step of a processor, or else the Gateway
  kBackend,
  kGateway  // the limits of the process
};

DeniedBy deniedBy(base::ErrorType type) {
  switch (type) {
    case base::ErrorType::kHttpRequestDenied:
    case base::ErrorType::kRateLimited:
      return DeniedBy::kStep;
    case base::ErrorType::kDestinationIpProhibited:
    case base::ErrorType::kConnectionLimitReached:
      return DeniedBy::kBackend;
    case base::ErrorType::kProcessorCapacityReached:
      return DeniedBy::kGateway;
    default:
      return DeniedBy::kNobody;
  }
}

// The note is left out: it has the address, so each destination would be an event of its own.
std::string messageOf(const base::Error& error, std::string_view processor) {
  std::string text = std::string(base::errorTypeName(error.type)) + ": " + error.detail;
  if (!error.limit.empty()) text.append(" (").append(error.limit).append(")");
  if (!processor.empty()) text.append(", by ").append(processor);
  return text;
}

}  // namespace

std::optional<Denial> denialOf(const Exchange& exchange) {
  const base::Error& error = *exchange.transaction().error;
  const DeniedBy party = deniedBy(error.type);
  if (party == DeniedBy::kNobody) return std::nullopt;
  // An EgressPolicy tells of its denials itself.
  const EgressState* const egress = exchange.transaction().egress;
  const bool isToldOf = egress != nullptr && egress->policy != nullptr && egress->decision == EgressDecision::kDenied;
  if (isToldOf && party == DeniedBy::kStep && exchange.refusal() == nullptr) return std::nullopt;
  const ExchangeSteps::StepRefusal* step = party == DeniedBy::kStep ? exchange.refusal() : nullptr;
  std::string object;
  if (step != nullptr) object = step->object;
  const routing::WeightedBackend* backend = exchange.attempt().backend;
  const bool isOfBackend = party == DeniedBy::kBackend && error.origin != base::ErrorOrigin::kDownstream;
  if (isOfBackend && backend != nullptr && backend->backend) object = titleOf(*backend->backend);
  const routing::ServedListener* listener = exchange.transaction().route.listener;
  if (object.empty() && listener != nullptr) object = listener->object;
  return Denial{std::move(object), messageOf(error, step != nullptr ? step->processor : std::string_view())};
}

std::optional<Denial> denialOf(const base::Error& error, const routing::BackendPlan& backend) {
  if (deniedBy(error.type) != DeniedBy::kBackend) return std::nullopt;
  return Denial{titleOf(backend), messageOf(error, {})};
}

}  // namespace sluice::exchange

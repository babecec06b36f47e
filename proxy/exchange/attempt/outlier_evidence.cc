#include "proxy/exchange/attempt/outlier_evidence.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "proxy/http/grpc.h"
#include "proxy/http/retry_after.h"

namespace sluice::exchange {
namespace {

constexpr std::uint16_t kTooManyRequests = 429;
constexpr std::uint16_t kServerErrors = 500;
constexpr std::uint16_t kBadGateway = 502;
constexpr std::uint16_t kServiceUnavailable = 503;
constexpr std::uint16_t kGatewayTimeout = 504;
constexpr std::uint16_t kOverloaded = 529;  // model providers use it as 503

/// Returns the HTTP status of an answer, or the one that its grpc-status maps to, if the head has one.
std::uint16_t statusOf(const http::ResponseHead& head, const http::RequestHead& request) {
  // The method of gRPC is always POST, and costs less to look at than the type of the content.
  if (request.method != http::Method::kPost || !http::speaksGrpc(request)) return head.status;
  const std::optional<std::uint32_t> code = http::grpcCodeOf(head.headers);
  return code ? http::httpStatusFrom(*code) : head.status;
}

/// Returns whether a Backend that answers with that status may ask for a pause.
bool asksForPause(std::uint16_t status) {
  return status == kTooManyRequests || status == kServiceUnavailable || status == kOverloaded;
}

bool isGatewayError(std::uint16_t status) { return status >= kBadGateway && status <= kGatewayTimeout; }

routing::PeerFailure failureNow(const Transaction& t, bool isGatewayError) {
  return {t.now(), t.context.worker().clock().wallNow(), isGatewayError};
}

/// Notes the outcome of an attempt for the endpoint to which it went; `failed` is false for a status below 500.
void noteEndpoint(Transaction& t, const Attempt& attempt, bool failed, bool byGateway) {
  const net::Address* const peer = attempt.request.peer();
  if (!attempt.backend->outliers || peer == nullptr) return;
  const routing::OutlierDetection& detection = *attempt.backend->outliers;
  const routing::EndpointEjections& ejections = *detection.ejections;
  if (!failed && !ejections.heedsAnswers(detection.bounds)) return;
  const routing::Endpoint endpoint{peer->ip(), peer->port()};
  const routing::CurrentEndpoints current = attempt.request.endpoints();
  if (!failed) return ejections.onAnswer(endpoint, t.now(), detection.bounds, current);
  const auto ejection = ejections.onError(endpoint, failureNow(t, byGateway), detection.bounds, current);
  if (!ejection) return;
  const routing::Rule& rule = *t.route.rule;
  t.context.observer().onEjection({*attempt.backend->backend, &endpoint, rule.route, detection.rule, *ejection});
}

void noteFailedMember(Transaction& t, const Attempt& attempt, const routing::FailoverMember& member, bool byGateway) {
  const routing::Rule& rule = *t.route.rule;
  const auto ejection = rule.failover->noteError(member, failureNow(t, byGateway));
  if (!ejection) return;
  t.context.observer().onEjection({*attempt.backend->backend, nullptr, rule.route, rule.failover->rule, *ejection});
}

/// Notes an answer for the Backend as a whole, as a member of the rule's fail-over.
void noteMember(Transaction& t, const Attempt& attempt, const routing::FailoverMember& member,
                const http::ResponseHead& head, std::uint16_t status) {
  const routing::FailoverPolicy& failover = *t.route.rule->failover;
  const base::MonotonicTime now = t.now();
  if (status >= kServerErrors) {
    noteFailedMember(t, attempt, member, isGatewayError(status));
  } else {
    member.health->onAnswer(now, member.passive);
  }
  if (!asksForPause(status)) return;
  const auto pause = http::retryAfter(head.headers, t.context.worker().clock().wallNow());
  const base::Duration ejection = std::min(pause.value_or(base::Duration::zero()), failover.longestRest);
  if (ejection > base::Duration::zero()) member.health->ejectUntil(now + ejection);
}

}  // namespace

// An error of one destination that a request has named says nothing about the Backend's other destinations.
void noteError(Transaction& t, const Attempt& attempt, const base::Error& error) {
  if (attempt.requested != nullptr) return;
  const bool isSlowUpload =
      error.type == base::ErrorType::kHttpResponseTimeout && t.requestState != RequestState::kSent;
  // A Backend that takes no WebSockets serves other requests, and clients choose what they ask for.
  const bool declinesTunnel =
      error.type == base::ErrorType::kHttpProtocolError && t.request.head.body == http::Body::kTunnel;
  if (!isPassing(error) || error.type == base::ErrorType::kConnectionLimitReached || isSlowUpload || declinesTunnel)
    return;
  noteEndpoint(t, attempt, /*failed=*/true, /*byGateway=*/true);
  const routing::FailoverMember* const member = t.route.rule->memberOf(*attempt.backend);
  if (member != nullptr) noteFailedMember(t, attempt, *member, /*byGateway=*/true);
}

void noteAnswer(Transaction& t, const Attempt& attempt, const http::ResponseHead& head) {
  if (attempt.requested != nullptr) return;
  const std::uint16_t status = statusOf(head, t.request.head);
  noteEndpoint(t, attempt, status >= kServerErrors, isGatewayError(status));
  if (const auto* member = t.route.rule->memberOf(*attempt.backend)) noteMember(t, attempt, *member, head, status);
}

}  // namespace sluice::exchange

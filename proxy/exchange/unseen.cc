#include "proxy/exchange/unseen.h"

#include "proxy/exchange/transaction/forwarded.h"

namespace sluice::exchange {
namespace {

using processing::Phase;

constexpr Phase kHeadPhasesOfResponse[] = {Phase::kBackendResponse, Phase::kResponseHeaders};
constexpr Phase kPhasesOfResponse[] = {Phase::kBackendResponse, Phase::kResponseHeaders, Phase::kResponseBody};

void withholdBySteps(const processing::Chains& chains, http::Headers& fields) {
  for (const processing::Chain* chain : chains) {
    if (chain == nullptr) continue;
    for (const Phase phase : kHeadPhasesOfResponse) {
      for (const processing::Step& step : chain->of(phase)) {
        for (const auto* each = &step; each != nullptr; each = each->standIn()) each->processor->withhold(fields);
      }
    }
  }
}

/// Returns true if a step must see the response before the client does. Such a step is never asked about heads that
/// come before the response.
bool mustBeSeen(const processing::Chains& chains) {
  for (const processing::Chain* chain : chains) {
    if (chain == nullptr) continue;
    for (const Phase phase : kPhasesOfResponse) {
      for (const processing::Step& step : chain->of(phase)) {
        if (!step.failOpen || step.standIn() != nullptr) return true;
      }
    }
  }
  return false;
}

}  // namespace

void guardRequestTrailers(Transaction& transaction, const routing::WeightedBackend* backend) {
  http::Headers* const trailers = transaction.requestBody.trailers();
  if (trailers != nullptr) guardRequestTrailers(transaction, backend, *trailers);
}

void guardRequestTrailers(const Transaction& transaction, const routing::WeightedBackend* backend,
                          http::Headers& trailers) {
  trailers.removeIf(isForwarded);
  const std::string& requestId = transaction.context.identity().requestId.name();
  if (!requestId.empty()) trailers.removeTwins(requestId);  // there is one, in the head
  const routing::ServedListener* const listener = transaction.route.listener;
  if (listener != nullptr && !listener->identityHeader.empty()) trailers.removeTwins(listener->identityHeader);
  const routing::Rule* rule = transaction.route.rule;
  if (rule == nullptr) return;
  if (rule->requestHeaders) rule->requestHeaders->withhold(trailers);
  if (backend != nullptr && backend->requestHeaders) backend->requestHeaders->withhold(trailers);
}

void guardResponseTrailers(const Transaction& transaction, const routing::WeightedBackend& backend,
                           const Processing& processing, http::Headers& trailers) {
  const routing::Rule& rule = *transaction.route.rule;
  if (rule.responseHeaders) rule.responseHeaders->withhold(trailers);
  if (backend.responseHeaders) backend.responseHeaders->withhold(trailers);
  if (processing.chains().wantsResponse()) withholdBySteps(processing.chains().all(), trailers);
}

bool mayPass(const Transaction& transaction, const routing::WeightedBackend& backend, const Processing& processing,
             http::ResponseMessage& interim) {
  if (processing.chains().wantsResponse() && mustBeSeen(processing.chains().all())) return false;
  const routing::Rule& rule = *transaction.route.rule;
  http::Headers& fields = interim.head.headers;
  if (rule.responseHeaders) rule.responseHeaders->apply(interim.arena, fields);
  if (backend.responseHeaders) backend.responseHeaders->apply(interim.arena, fields);
  if (processing.chains().wantsResponse()) withholdBySteps(processing.chains().all(), fields);
  return true;
}

}  // namespace sluice::exchange

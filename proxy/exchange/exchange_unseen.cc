// What filters and steps are not shown of a message, and must not be walked around by: trailers, and the 1xx heads that
// come before a response.
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/forwarded.h"

namespace sluice::exchange {
namespace {

using processing::Phase;

constexpr Phase kHeadPhasesOfResponse[] = {Phase::kBackendResponse, Phase::kResponseHeaders};
constexpr Phase kPhasesOfResponse[] = {Phase::kBackendResponse, Phase::kResponseHeaders, Phase::kResponseBody};

void withholdBySteps(const processing::Chains& chains, http::Headers& fields) {
  for (const processing::Chain* chain : chains) {
    if (chain == nullptr) continue;
    for (const Phase phase : kHeadPhasesOfResponse) {
      for (const processing::Step& step : chain->of(phase)) step.processor->withhold(fields);
    }
  }
}

/// A step that would have to see a response before the client does is never asked about what comes before it.
bool mustBeSeen(const processing::Chains& chains) {
  for (const processing::Chain* chain : chains) {
    if (chain == nullptr) continue;
    for (const Phase phase : kPhasesOfResponse) {
      for (const processing::Step& step : chain->of(phase)) {
        if (!step.failOpen) return true;
      }
    }
  }
  return false;
}

}  // namespace

void Exchange::guardClientsTrailers() {
  http::Headers* trailers = requestBody_.trailers();
  if (trailers == nullptr) return;
  trailers->removeIf(isForwarded);
  if (rule_ == nullptr) return;
  if (rule_->requestHeaders) rule_->requestHeaders->withhold(*trailers);
  if (attempt_.backend != nullptr && attempt_.backend->requestHeaders) {
    attempt_.backend->requestHeaders->withhold(*trailers);
  }
}

void Exchange::guardBackendsTrailers(http::Headers& trailers) const {
  if (rule_->responseHeaders) rule_->responseHeaders->withhold(trailers);
  if (attempt_.backend->responseHeaders) attempt_.backend->responseHeaders->withhold(trailers);
  if (wantsResponse()) withholdBySteps(chains(), trailers);
}

bool Exchange::mayPass(http::ResponseMessage& interim) const {
  // The client's 100 came from us, with the connection at hand; the backend's would be a second one.
  if (interim.head.status == 100) return false;
  if (wantsResponse() && mustBeSeen(chains())) return false;
  http::Headers& fields = interim.head.headers;
  if (rule_->responseHeaders) rule_->responseHeaders->apply(interim.arena, fields);
  if (attempt_.backend->responseHeaders) attempt_.backend->responseHeaders->apply(interim.arena, fields);
  if (wantsResponse()) withholdBySteps(chains(), fields);
  return true;
}

}  // namespace sluice::exchange

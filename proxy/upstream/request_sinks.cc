#include "proxy/upstream/request_sinks.h"

#include <utility>

namespace sluice::upstream {

void RequestSinks::onInterim(http::Token token, http::ResponseMessage&& message) {
  of(token).client->onInterim(token, std::move(message));
}

void RequestSinks::onResponse(http::Token token, http::ResponseMessage&& message) {
  of(token).client->onResponse(token, std::move(message));
}

void RequestSinks::onResponseBody(http::Token token, std::string_view bytes) {
  of(token).client->onResponseBody(token, bytes);
}

void RequestSinks::onResponseEnd(http::Token token) { of(token).client->onResponseEnd(token); }

void RequestSinks::onResponseEnd(http::Token token, http::Trailers&& trailers) {
  of(token).client->onResponseEnd(token, std::move(trailers));
}

void RequestSinks::onResponseReset(http::Token token, const base::Error& error, bool unprocessed) {
  of(token).client->onResponseReset(token, error, unprocessed);
}

http::BodyPipe* RequestSinks::requestBody(http::Token token) { return of(token).client->requestBody(token); }

void RequestSinks::onRequestBodyTaken(http::Token token, std::size_t count) {
  of(token).client->onRequestBodyTaken(token, count);
}

void RequestSinks::onRequestSent(http::Token token) { of(token).client->onRequestSent(token); }

void RequestSinks::onLimitHit(http::Limit limit) {
  metrics_.at<observe::Metric::kLimitHits>(http::limitName(limit)).add();
}

bool RequestSinks::onPoolReady(http::Token waiter) { return of(waiter).waiters->onPoolReady(waiter); }

bool RequestSinks::onPoolFailed(http::Token waiter, const base::Error& error) {
  return of(waiter).waiters->onPoolFailed(waiter, error);
}

void RequestSinks::surveyPlaces(std::uint64_t breaker, PlaceSurvey& survey) {
  for (const Sinks& each : sinks_) {
    if (each.waiters != nullptr) each.waiters->surveyPlaces(breaker, survey);
  }
}

bool RequestSinks::giveWay(const StalledRequest& stalled, const PlaceDemand& demand) {
  return of(stalled.holder).waiters->giveWay(stalled, demand);
}

}  // namespace sluice::upstream

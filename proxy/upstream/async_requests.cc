#include "proxy/upstream/async_requests.h"

#include <optional>
#include <utility>

namespace sluice::upstream {

void AsyncRequests::mark(AsyncRequest& request) {
  if (!std::exchange(request.dirty, true)) due_.push_back(request.token());
}

// Requests that are marked meanwhile are driven too.
void AsyncRequests::drive() {
  for (std::size_t i = 0; i < due_.size(); ++i) {
    AsyncRequest* request = find(due_[i]);
    if (request == nullptr) continue;
    request->dirty = false;
    request->drive();
  }
  due_.clear();
}

void AsyncRequests::onResponse(http::Token token, http::ResponseMessage&& message) {
  if (AsyncRequest* request = find(token)) request->onResponse(std::move(message));
}

void AsyncRequests::onResponseBody(http::Token token, std::string_view bytes) {
  if (AsyncRequest* request = find(token)) request->onResponseBody(bytes);
}

void AsyncRequests::onResponseEnd(http::Token token) {
  if (AsyncRequest* request = find(token)) request->onResponseEnd(std::nullopt);
}

void AsyncRequests::onResponseEnd(http::Token token, http::Trailers&& trailers) {
  if (AsyncRequest* request = find(token)) request->onResponseEnd(std::move(trailers));
}

void AsyncRequests::onResponseReset(http::Token token, const base::Error& error, bool unprocessed) {
  if (AsyncRequest* request = find(token)) request->onReset(error, unprocessed);
}

http::BodyPipe* AsyncRequests::requestBody(http::Token token) {
  AsyncRequest* request = find(token);
  return request != nullptr ? &request->body() : nullptr;
}

void AsyncRequests::onRequestBodyTaken(http::Token token, std::size_t /*count*/) {
  if (AsyncRequest* request = find(token)) request->onRequestTaken();
}

void AsyncRequests::onRequestSent(http::Token token) {
  if (AsyncRequest* request = find(token)) request->onRequestSent();
}

bool AsyncRequests::onPoolReady(http::Token waiter) {
  AsyncRequest* request = find(waiter);
  return request != nullptr && request->onPoolReady();
}

bool AsyncRequests::onPoolFailed(http::Token waiter, const base::Error& error) {
  AsyncRequest* request = find(waiter);
  return request != nullptr && request->onPoolFailed(error);
}

void AsyncRequests::surveyPlaces(std::uint64_t breaker, PlaceSurvey& survey) {
  entries_.forEach([&](const EnrolledRequest& each) {
    if (each.request.holdsPlaceOf(breaker)) survey.add(each.request.token(), each.request.claim());
  });
}

bool AsyncRequests::giveWay(const StalledRequest& stalled, const PlaceDemand& demand) {
  AsyncRequest* request = find(stalled.holder);
  const bool holdsUp = request != nullptr && !request->over() && request->holdsPlaceOf(demand.breaker) &&
                       request->claim().owesSince <= stalled.since;
  if (holdsUp) request->fail(placeWanted(demand.limit));
  return holdsUp;
}

}  // namespace sluice::upstream

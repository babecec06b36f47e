// The requests that the gateway makes for itself, of one worker: their tokens, and their part of the beat. Owned by
// Upstreams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/upstream/async_request.h"
#include "proxy/upstream/request_sinks.h"

namespace sluice::upstream {

class AsyncRequests final : public http::ClientSink, public WaiterSink {
 public:
  http::Token add(AsyncRequest& request) { return tokenOf(User::kAsyncRequest, entries_.create(request).self); }
  void remove(AsyncRequest& request) { entries_.destroy(handleOf<EnrolledRequest>(request.token())); }
  void mark(AsyncRequest& request);

  /// Runs in the drive beat.
  void drive();
  bool quiet() const { return due_.empty(); }

  // http::ClientSink
  void onInterim(http::Token, http::ResponseMessage&&) override {}
  void onResponse(http::Token token, http::ResponseMessage&& message) override;
  void onResponseBody(http::Token token, std::string_view bytes) override;
  void onResponseEnd(http::Token token) override;
  void onResponseEnd(http::Token token, http::Trailers&& trailers) override;
  void onResponseReset(http::Token token, const base::Error& error, bool unprocessed) override;
  http::BodyPipe* requestBody(http::Token token) override;
  void onRequestBodyTaken(http::Token token, std::size_t count) override;
  void onRequestSent(http::Token token) override;
  /// RequestSinks counts limits for all users.
  void onLimitHit(http::Limit) override {}

  // WaiterSink
  bool onPoolReady(http::Token waiter) override;
  bool onPoolFailed(http::Token waiter, const base::Error& error) override;
  void surveyPlaces(std::uint64_t breaker, PlaceSurvey& survey) override;
  bool giveWay(const StalledRequest& stalled, const PlaceDemand& demand) override;

 private:
  struct EnrolledRequest {
    base::Handle<EnrolledRequest> self;
    AsyncRequest& request;
    EnrolledRequest(base::Handle<EnrolledRequest> handle, AsyncRequest& named) : self(handle), request(named) {}
  };

  /// Returns nullptr if the request is gone.
  AsyncRequest* find(http::Token token) {
    EnrolledRequest* entry = entries_.find(handleOf<EnrolledRequest>(token));
    return entry != nullptr ? &entry->request : nullptr;
  }

  base::Slab<EnrolledRequest> entries_;
  std::vector<http::Token> due_;
};

}  // namespace sluice::upstream

// Codecs and pools know a request by its token alone. RequestSinks hands their events to the user to which the request
// belongs.
//
// A token carries its user in bits that no slab's index reaches, so each event goes to one table, which looks for the
// request among its own. Owned by Upstreams' UpstreamContext; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/observe/metrics.h"
#include "proxy/upstream/places/waiters.h"

namespace sluice::upstream {

enum class User : std::uint8_t {
  kExchange,     // 0, so the token of an exchange is that of its handle
  kAsyncRequest  // the gateway's own requests: async_request.h
};

template <typename T>
http::Token tokenOf(User user, base::Handle<T> handle) {
  return handle.toToken() | http::Token{static_cast<std::uint8_t>(user)} << 28;
}
constexpr User userOf(http::Token token) { return static_cast<User>(token >> 28 & 0xF); }
template <typename T>
base::Handle<T> handleOf(http::Token token) {
  return base::Handle<T>::fromToken(token & ~(http::Token{0xF} << 28));
}

class RequestSinks final : public http::ClientSink, public WaiterSink {
 public:
  explicit RequestSinks(observe::MetricShard& metrics) : metrics_(metrics) {}

  /// Sets the sinks of a user; both outlive its last request.
  void serve(User user, http::ClientSink& sink, WaiterSink& waiters) {
    sinks_[static_cast<std::size_t>(user)] = {&sink, &waiters};
  }

  // http::ClientSink
  void onInterim(http::Token token, http::ResponseMessage&& message) override;
  void onResponse(http::Token token, http::ResponseMessage&& message) override;
  void onResponseBody(http::Token token, std::string_view bytes) override;
  void onResponseEnd(http::Token token) override;
  void onResponseEnd(http::Token token, http::Trailers&& trailers) override;
  void onResponseReset(http::Token token, const base::Error& error, bool unprocessed) override;
  http::BodyPipe* requestBody(http::Token token) override;
  void onRequestBodyTaken(http::Token token, std::size_t count) override;
  void onRequestSent(http::Token token) override;
  void onLimitHit(http::Limit limit) override;

  // WaiterSink
  bool onPoolReady(http::Token waiter) override;
  bool onPoolFailed(http::Token waiter, const base::Error& error) override;
  void surveyPlaces(std::uint64_t breaker, PlaceSurvey& survey) override;
  bool giveWay(const StalledRequest& stalled, const PlaceDemand& demand) override;

 private:
  struct Sinks {
    http::ClientSink* client = nullptr;
    WaiterSink* waiters = nullptr;
  };

  Sinks& of(http::Token token) { return sinks_[static_cast<std::size_t>(userOf(token))]; }

  observe::MetricShard& metrics_;
  std::array<Sinks, 16> sinks_;  // by User
};

}  // namespace sluice::upstream

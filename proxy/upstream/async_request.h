// A request to a Backend that the gateway makes for itself, and that moves itself: a copy for a mirror, a processor's
// call to a service. It waits for a connection, sends, receives, watches its deadlines and reports to its owner. Like a
// client's request, it is repeated, without notice to its owner, if the Backend has certainly not begun to process it.
// The tables of async_transitions.h define its states.
//
// Its owner may be any object that lives on the worker; destroying the request cancels it, and no call follows. Events
// of codecs and pools are recorded, and acted on in the drive beat of Upstreams. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/base/result.h"
#include "proxy/base/slab.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/codec.h"
#include "proxy/http/message.h"
#include "proxy/net/timers.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/async_transitions.h"
#include "proxy/upstream/places/place_survey.h"
#include "proxy/upstream/request.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

/// Each function only records: it does not destroy the request, and calls back at most grant() and fail().
class AsyncRequestOwner {
 public:
  /// Returns the client for which the request is made, and since when that client has held it up.
  virtual PlaceClaim claim() const { return {}; }
  /// Returns the reason why the request must not go out on the connection that it has claimed; nullopt if it may.
  virtual std::optional<base::Error> refusalOf(const Request& /*claimed*/) { return std::nullopt; }
  /// Called before start() when resolve() may be asked again.
  virtual void onAddresses() = 0;
  /// Called with the final head.
  virtual void onResponse(http::ResponseMessage&& message) = 0;
  /// Called with bytes of the body, to be granted when they are taken.
  virtual void onResponseBody(std::string_view bytes) = 0;
  /// Called when the codec took bytes out of body().
  virtual void onRequestTaken() = 0;
  /// Called when the whole response has arrived. No call follows.
  virtual void onResponseEnd(std::optional<http::Trailers> trailers) = 0;
  /// Called when the request failed, by its own fault or the Backend's, or when its time is up. No call follows.
  virtual void onFailed(const base::Error& error) = 0;

 protected:
  ~AsyncRequestOwner() = default;
};

struct AsyncRequestTimes {
  base::Duration idle;     // bound on the time without any progress
  base::Duration whole;    // bound from its construction on; 0: unbounded
  base::Duration attempt;  // bound from begin() on; 0: unbounded
};

class AsyncRequest final : private net::Timer {
 public:
  AsyncRequest(UpstreamContext& context, AsyncRequestOwner& owner, const AsyncRequestTimes& times);
  AsyncRequest(const AsyncRequest&) = delete;
  AsyncRequest& operator=(const AsyncRequest&) = delete;
  ~AsyncRequest() override;

  /// Takes a place at the Backend; to be called first, and once. Returns false if limits.backendRequests has no room
  /// for it. If it `seeks` a place, another request may give way for it.
  bool enter(const std::shared_ptr<const routing::BackendPlan>& plan, bool seeks = true) {
    return request_.enter(plan, owner_.claim().client, seeks);
  }
  /// Returns the addresses of the Backend, like Cluster::resolve(). If there are none yet, the owner is notified when
  /// to ask again.
  base::Result<net::Addresses> resolve() { return request_.resolve(); }
  /// Sends it as soon as there is a connection, only to one of `allowed` unless that is null, and to one that `dial`
  /// permits unless that is null. All outlive it. Consistent hashing chooses its endpoint by `hash`, or by chance.
  void start(const http::RequestHead& head, const net::Addresses* allowed = nullptr,
             routing::EgressDial* dial = nullptr, std::optional<std::uint64_t> hash = std::nullopt);
  /// Returns the pipe for the body that the head announces. The owner must call wake() after each change.
  http::BodyPipe& body() { return body_; }
  const http::BodyPipe& body() const { return body_; }
  void wake();
  /// Called when the owner took `count` bytes of the response's body.
  void grant(std::size_t count);
  /// Do Request::releasePlace() and Request::retakePlace().
  void releasePlace() { request_.releasePlace(); }
  void retakePlace() { request_.retakePlace(); }
  /// Ends it with an error. The owner is notified in the next beat, unless it was notified of an end before.
  void fail(const base::Error& error);

  /// Returns true if it has ended or is about to.
  bool over() const { return isDecided(responseState_); }
  /// Returns the address to which it went; nullptr if it had no connection.
  const net::Address* peer() const { return request_.peer(); }
  /// Returns true if it was sent, or if the Backend could not be reached: neither a limit nor a policy has refused it.
  bool attempted() const { return attempted_; }
  /// Returns the time when it was sent, or before that when it was made.
  base::MonotonicTime begun() const { return begun_; }

  /// Only AsyncRequests calls these.
  http::Token token() const { return token_; }
  void drive();
  bool onPoolReady();
  bool onPoolFailed(const base::Error& error);
  void onResponse(http::ResponseMessage&& message);
  void onResponseBody(std::string_view bytes);
  void onResponseEnd(std::optional<http::Trailers> trailers);
  void onReset(const base::Error& error, bool unprocessed);
  void onRequestTaken();
  void onRequestSent() { raise(AsyncEvent::kSent); }
  PlaceClaim claim() const { return owner_.claim(); }
  bool holdsPlaceOf(std::uint64_t breaker) const { return request_.holdsPlaceOf(breaker); }
  bool dirty = false;

 private:
  void onTimer() override;
  base::MonotonicTime deadline() const;
  void progress();
  void raise(AsyncEvent event);
  /// Returns the event that the action raises.
  std::optional<AsyncEvent> act(AsyncRequestAction action);
  void act(AsyncResponseAction action);
  AsyncEvent ending() const;
  std::optional<AsyncEvent> acquire();
  AsyncEvent begin();
  void leave();
  bool mayRepeat(const base::Error& error, bool unprocessed) const;

  UpstreamContext& context_;
  AsyncRequestOwner& owner_;
  const AsyncRequestTimes times_;
  const http::Token token_;
  Request request_;
  const http::RequestHead* head_ = nullptr;
  const net::Addresses* allowed_ = nullptr;
  routing::EgressDial* dial_ = nullptr;
  std::optional<std::uint64_t> hash_;
  http::BodyPipe body_;
  std::optional<http::Trailers> trailers_;  // of the response
  std::optional<base::Error> error_;
  std::size_t taken_ = 0;  // bytes of the response's body that are not granted yet
  AsyncRequestState requestState_ = AsyncRequestState::kPreparing;
  AsyncResponseState responseState_ = AsyncResponseState::kSilent;
  bool attempted_ = false;
  std::uint32_t repeats_ = 0;  // the number of repeats, of which the owner gets no notice
  const base::MonotonicTime made_;
  base::MonotonicTime begun_;
  base::MonotonicTime lastProgress_;
};

}  // namespace sluice::upstream

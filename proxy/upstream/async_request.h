// A request to a Backend that the gateway makes for itself, and that moves itself: a copy for a mirror, a processor's
// call to a service. It waits for a connection, sends, receives and watches its deadlines, and tells its owner. As for
// clients' requests, what the Backend has certainly not begun is sent once more, unseen.
//
// Owned by whoever wants it, in whatever lives on the worker; destroying it cancels what is under way, and nothing more
// is told. What codecs and pools tell it is recorded, and followed in the drive beat of Upstreams. One thread.
#pragma once

#include <cstddef>
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
#include "proxy/upstream/context.h"
#include "proxy/upstream/request.h"

namespace sluice::upstream {

/// Each call only records: the request is not destroyed in it, and called back for grant() and fail() at most.
class AsyncRequestOwner {
 public:
  /// resolve() may be asked again; only before start().
  virtual void onAddresses() = 0;
  /// The final head.
  virtual void onResponse(http::ResponseMessage&& message) = 0;
  /// To be granted when it is taken.
  virtual void onResponseBody(std::string_view bytes) = 0;
  /// The Backend's side took bytes out of body().
  virtual void onRequestTaken() = 0;
  /// The whole response is here. Nothing more is told.
  virtual void onResponseEnd(std::optional<http::Trailers> trailers) = 0;
  /// It failed, by its own fault or the Backend's, or its time is up. Nothing more is told.
  virtual void onFailed(const base::Error& error) = 0;

 protected:
  ~AsyncRequestOwner() = default;
};

struct AsyncRequestTimes {
  base::Duration idle;     // while nothing moves, either way
  base::Duration whole;    // from the time that it was made; 0: unbounded
  base::Duration attempt;  // from the time that it was sent; 0: unbounded
};

class AsyncRequest final : private net::Timer {
 public:
  AsyncRequest(Context& context, AsyncRequestOwner& owner, const AsyncRequestTimes& times);
  AsyncRequest(const AsyncRequest&) = delete;
  AsyncRequest& operator=(const AsyncRequest&) = delete;
  ~AsyncRequest() override;

  /// First of all; once. False: limits.backendRequests has no room for it.
  bool enter(const std::shared_ptr<const routing::BackendPlan>& plan) { return request_.enter(plan); }
  /// Where it could go, as Cluster::resolve() says it; empty: the owner is told.
  base::Result<net::Addresses> resolve() { return request_.resolve(); }
  /// Sends it as soon as there is a connection, to one of `allowed` alone unless that is null. Both outlive it.
  void start(const http::RequestHead& head, const net::Addresses* allowed = nullptr);
  /// The body that `head` announces. After each change, wake().
  http::BodyPipe& body() { return body_; }
  const http::BodyPipe& body() const { return body_; }
  void wake();
  /// The owner took so many bytes of the response's body.
  void grant(std::size_t count);
  /// Ends it; the owner is told in the next beat, unless it has been told of an end.
  void fail(const base::Error& error);

  /// It has ended, or is about to.
  bool over() const { return state_ == State::kOver || answered_ || error_.has_value(); }
  /// When it was sent; until then, when it was made.
  base::MonotonicTime begun() const { return begun_; }

  /// Called by AsyncRequests alone.
  http::Token token() const { return token_; }
  void drive();
  bool onPoolReady();
  bool onPoolFailed(const base::Error& error);
  void onResponse(http::ResponseMessage&& message);
  void onResponseBody(std::string_view bytes);
  void onResponseEnd(std::optional<http::Trailers> trailers);
  void onReset(const base::Error& error, bool unprocessed);
  void onRequestTaken();
  void onRequestSent() { sent_ = true; }
  bool dirty = false;

 private:
  enum class State : std::uint8_t {
    kPreparing,  // until start()
    kWaiting,    // for a connection
    kSending,    // the codec has it
    kOver
  };

  void onTimer() override;
  base::MonotonicTime deadline() const;
  void progress();
  void acquire();
  void begin();
  void feed();
  void finish();
  bool mayRepeat(const base::Error& error, bool unprocessed) const;

  Context& context_;
  AsyncRequestOwner& owner_;
  const AsyncRequestTimes times_;
  const http::Token token_;
  Request request_;
  const http::RequestHead* head_ = nullptr;
  const net::Addresses* allowed_ = nullptr;
  http::BodyPipe body_;
  std::optional<http::Trailers> trailers_;  // of the response
  std::optional<base::Error> error_;
  std::size_t taken_ = 0;  // of the response's body, and not granted yet
  State state_ = State::kPreparing;
  bool worthAsking_ = true;  // the pool has not said that it is to wait
  bool touched_ = false;     // the Backend's side has taken some of the body
  bool repeated_ = false;    // it was sent once more, unseen
  bool sent_ = false;        // the whole request
  bool answered_ = false;    // the whole response
  const base::MonotonicTime made_;
  base::MonotonicTime begun_;
  base::MonotonicTime lastProgress_;
};

}  // namespace sluice::upstream

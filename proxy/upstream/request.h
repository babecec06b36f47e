// One request to a Backend, tried once: it takes a place at the Backend, leases a connection, goes out, gets its
// response by credit, and may be cancelled. A retry is another Request.
//
// There is no other way to use a cluster, a connection or its codec. A Request does nothing by itself: its user calls
// it, and gets the outcome by its token (RequestSinks). Owned by its user; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/cluster.h"
#include "proxy/upstream/connection.h"
#include "proxy/upstream/endpoint_places.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

/// How often a request is sent again at once, if the Backend has certainly not processed it, or if it was lost with a
/// connection that had been idle for too long.
inline constexpr std::uint32_t kMostRepeats = 5;

class Request {
 public:
  /// `context` outlives it; `token` comes from its user's table.
  Request(UpstreamContext& context, http::Token token) : context_(context), token_(token) {}
  Request(Request&& other) noexcept
      : context_(other.context_), token_(other.token_), at_(std::exchange(other.at_, {})) {}
  /// Both must belong to the same user.
  Request& operator=(Request&& other) noexcept {
    leave();
    at_ = std::exchange(other.at_, {});
    return *this;
  }
  /// Gives its place back; the user must cancel() a stream first that is under way.
  ~Request() { leave(); }

  /// Takes a place among limits.backendRequests of that Backend, or seeks one for which others give way; then acquire()
  /// waits for it. Returns false if there is none. The functions below that wait, lease or send need one. `client` is
  /// the client for which it is made.
  bool enter(const std::shared_ptr<const routing::BackendPlan>& plan, net::ClientNetwork client, bool seeks = true);
  bool entered() const { return at_.cluster != nullptr; }
  void leave() {
    if (at_.seat.isTaken()) leaveEndpoint();
    if (entered()) std::exchange(at_.cluster, nullptr)->leave(token_, at_.place);
  }
  /// Returns true if it has a place of the circuit breaker with that number.
  bool holdsPlaceOf(std::uint64_t breaker) const {
    if (entered() && at_.place == Place::kHeld && at_.cluster->places().breaker() == breaker) return true;
    return at_.seat.isOf(breaker);
  }
  /// Gives the place back until the client continues, although the Backend has the request. The place at its endpoint
  /// goes with it.
  void releasePlace() {
    at_.seat.release();
    if (entered() && at_.place == Place::kHeld) at_.place = at_.cluster->places().releasePlace();
  }
  /// Takes the place again.
  void retakePlace() {
    at_.seat.retake();
    if (!entered() || at_.place != Place::kReleased) return;
    at_.cluster->places().retakePlace();
    at_.place = Place::kHeld;
  }

  /// Returns Cluster::resolve(): empty means that the user is notified when to ask again.
  base::Result<net::Addresses> resolve() { return at_.cluster->resolve(token_); }
  /// Leases a connection, and takes a place at the endpoint to which it goes, if endpoints have bounds. Returns false
  /// if there is none yet; the user is then notified when to ask again.
  base::Result<bool> acquire(const Wishes& wishes);
  /// Returns the cause of the wait, if it has to ask again later.
  ConnectionWait wait() const {
    if (!entered()) return {};
    const bool seeks = at_.place == Place::kSought || at_.seat.seeks();
    return seeks ? ConnectionWait{ConnectionWait::Stage::kQueue} : at_.cluster->waitOf(token_);
  }
  /// Returns true if bytes that were written for the Backend wait for it to take them.
  bool backsUp() const;
  /// Stops waiting for a connection, and gives a leased one back unused.
  void abandon();
  /// Gives the leased connection back, if it is still there.
  void giveBack();
  /// Checks the leased connection. From here on, peer() and wentStale() refer to it. Returns false if it was lost
  /// meanwhile.
  bool claim();

  /// Sends the head, and the body that it announces out of the user's pipe; to be called after a successful claim() in
  /// the same turn. A connection that the head authenticates serves `client` alone from then on. Returns false if the
  /// request cannot be expressed in the Backend's version of HTTP.
  bool begin(const http::RequestHead& head, http::Token client);
  /// Returns true if it was begun and may still have events.
  bool active() const { return at_.stream != 0; }
  /// Called when no event follows, because it was reset or both ways are done.
  void end() { at_.stream = 0; }
  /// Called when the pipe has more of the body, or its end.
  void wake();
  /// Called when the user took `count` bytes of the response's body.
  void grant(std::size_t count);
  /// Does Codec::widen() for the response.
  void widen();
  void cancel() {
    if (active()) cutShort();
  }
  /// Cancels a request that has timed out without any byte of its response, so that the connection may be dead.
  void expire();
  /// Makes the connection serve that client alone from now on.
  void pin(http::Token client);

  /// Returns the deadline of an attempt that may take `bound` from begin() on; max() if it has not begun, or if `bound`
  /// is 0.
  base::MonotonicTime deadline(base::Duration bound) const;
  /// Returns the endpoints of its Backend as far as this worker knows them; none if it has no place.
  routing::CurrentEndpoints endpoints() const {
    return entered() ? at_.cluster->endpoints() : routing::CurrentEndpoints();
  }
  /// Returns the address to which it went, when it was sent last; nullptr if it has had no connection since acquire().
  const net::Address* peer() const { return at_.peer ? &*at_.peer : nullptr; }
  /// Returns the SHA-256 of the certificate on the leased connection; empty if it has none. To be called after a
  /// successful claim() in the same turn.
  std::string_view certificate() const { return connection()->certificate(); }
  /// Called when the certificate is refused; see Connection::discardOutdated(). The connection is given back.
  bool discardOutdated() const { return connection()->discardOutdated(); }
  /// Returns true if the connection had served other requests.
  bool reused() const { return at_.reused; }
  /// Returns true if it failed because the connection had been idle for too long.
  bool wentStale(const base::Error& error) const {
    return at_.reused && error.type == base::ErrorType::kConnectionTerminated && lostConnection();
  }
  /// Called before it is sent again after that, so that it does not get another connection that has been idle for as
  /// long.
  void avoidStale();

 private:
  void leaveEndpoint();
  /// Returns true if the connection is lost, and not only the stream.
  bool lostConnection() const;
  void cutShort();
  Connection* connection() const { return context_.find(at_.connection); }
  /// Returns nullptr unless there is a codec that has the stream.
  Connection* streaming() const;

  /// The progress of the request.
  struct Progress {
    Cluster* cluster = nullptr;
    Place place = Place::kNone;
    EndpointSeat seat;
    base::Handle<Connection> connection;
    http::StreamId stream = 0;
    bool reused = false;
    std::optional<net::Address> peer;
    base::MonotonicTime begun{};
  };

  UpstreamContext& context_;
  const http::Token token_;
  Progress at_;
};

}  // namespace sluice::upstream

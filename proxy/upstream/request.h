// One request to a Backend, tried once: it takes a place at the Backend, leases a connection, goes out and has its
// response come in by credit, and may be cancelled. Whoever tries again makes another one.
//
// Nobody speaks to a cluster, a connection or its codec in any other way. A Request moves nothing by itself: its user
// calls it, and hears by token what came of that (RequestSinks). Owned by its user; one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/cluster.h"
#include "proxy/upstream/connection.h"
#include "proxy/upstream/context.h"

namespace sluice::upstream {

class Request {
 public:
  /// `context` outlives it; `token` names it, from its user's table.
  Request(Context& context, http::Token token) : context_(context), token_(token) {}
  Request(Request&& other) noexcept
      : context_(other.context_), token_(other.token_), at_(std::exchange(other.at_, {})) {}
  /// The other one is of the same user.
  Request& operator=(Request&& other) noexcept {
    leave();
    at_ = std::exchange(other.at_, {});
    return *this;
  }
  /// Gives its place back; what is under way is for the user to cancel() first.
  ~Request() { leave(); }

  /// Takes a place among limits.backendRequests of that Backend; false if there is none. Everything below that waits,
  /// leases or sends needs one.
  bool enter(const std::shared_ptr<const routing::BackendPlan>& plan);
  bool entered() const { return at_.cluster != nullptr; }
  void leave() {
    if (entered()) std::exchange(at_.cluster, nullptr)->leave();
  }

  /// Cluster::resolve(): empty means that the user is told when to ask again.
  base::Result<net::Addresses> resolve() { return at_.cluster->resolve(token_); }
  /// Leases a connection; false means that the user is told when to ask again.
  base::Result<bool> acquire(const Wishes& wishes);
  /// Does not wait for a connection any more, and gives one that was leased back unused.
  void abandon();
  /// Gives the connection that was leased back, if it is there still.
  void giveBack();
  /// Looks at the connection that was leased: from here on peer() and reused() tell of it. False if it was lost
  /// meanwhile.
  bool claim();

  /// Sends the head, and what it announces out of the user's pipe; behind a claim() in the same turn that was true. A
  /// connection that the head authenticates is `client`'s alone from then on. False: it cannot be expressed in the
  /// Backend's version of HTTP.
  bool begin(const http::RequestHead& head, http::Token client);
  /// It was begun, and something may still come of it.
  bool active() const { return at_.stream != 0; }
  /// Nothing comes any more: it was reset, or both ways are done.
  void end() { at_.stream = 0; }
  /// The pipe has more of the body, or its end.
  void wake();
  /// The user took so many bytes of the response's body.
  void grant(std::size_t count);
  /// ClientCodec::widen(), for the response.
  void widen();
  void cancel() {
    if (active()) cutShort();
  }
  /// The connection is its client's alone from now on.
  void pin(http::Token client);

  /// When a try that may take so long, from begin() on, has taken too long; max() if it has not begun, or `bound` is 0.
  base::MonotonicTime deadline(base::Duration bound) const;
  /// Where it went; nullptr if it never had a connection.
  const net::Address* peer() const { return at_.peer ? &*at_.peer : nullptr; }
  /// The connection had served others: it may have gone stale while it was idle.
  bool reused() const { return at_.reused; }
  /// Not just the stream is over, but the connection.
  bool lostConnection() const;

 private:
  void cutShort();
  Connection* connection() const { return context_.find(at_.connection); }
  /// nullptr unless a codec is there that has the stream.
  Connection* streaming() const;

  /// How far it has come.
  struct Progress {
    Cluster* cluster = nullptr;
    base::Handle<Connection> connection;
    http::StreamId stream = 0;
    bool reused = false;
    std::optional<net::Address> peer;
    base::MonotonicTime begun{};
  };

  Context& context_;
  const http::Token token_;
  Progress at_;
};

}  // namespace sluice::upstream

// One Backend as one worker sees it: its addresses, its TLS sessions, its connections, and who waits for one.
//
// HTTP/1.1 connections are given out last-in first-out; HTTP/2 requests go to the least loaded of a few connections. Until the first
// handshake has said which version the Backend speaks, one connection probes and everybody waits for it. Owned by Upstreams; lives as
// long as the worker serves the Backend, and then until the last exchange and connection have left it. One thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/tls.h"
#include "proxy/observe/metrics.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/budget.h"

namespace sluice::upstream {

class Connection;
class Upstreams;

/// What http_client_open_connections counts a connection as.
enum class ConnectionUse : std::uint8_t { kNone, kIdle, kActive };

class Cluster {
 public:
  Cluster(Upstreams& owner, std::shared_ptr<const routing::BackendPlan> plan);
  ~Cluster();

  const routing::BackendPlan& plan() const { return *plan_; }
  /// nullptr for plaintext.
  net::TlsClientContext* tlsContext() { return tls_.get(); }

  /// One exchange more that may acquire() and use its connections, until it leaves; false if limits.backendRequests has
  /// no room for it.
  bool tryEnter();
  void leave();

  /// No new exchange comes: what is idle closes as soon as nobody is here who could want it.
  void retire();
  /// It was retired, and nothing refers to it any more.
  bool abandoned() const { return retired_ && users_ == 0 && attached_ == 0 && !resolving_ && !dirty; }

  /// A connection with room for one request; an empty handle: the waiter is told by WaiterSink; an error: it can not even wait.
  base::Result<base::Handle<Connection>> acquire(http::Token waiter);
  /// The waiter does not want one any more (it may have been told already).
  void abandon(http::Token waiter);

  /// The drive beat: tells waiters, opens connections.
  void settle();
  bool dirty = false;

  /// Called by connections, the first two by each as long as it exists.
  void attach() { ++attached_; }
  void detach();
  base::Result<http::Version> negotiated(const net::TlsFacts* tls);
  void onServing(Connection& connection);
  void onUse(ConnectionUse before, ConnectionUse now);
  void onCapacity(Connection& connection);
  /// No longer to be given out. `error`: it never became ready, and why.
  void onGone(Connection& connection, const base::Error* error);

 private:
  Connection* leastLoaded();
  Connection* takeIdle();
  std::size_t spare();
  bool wantsAnother(std::size_t waiting) const;
  /// False if nobody can be served by dialling: the error went to all waiters.
  bool open();
  void drainAll();
  void failWaiters(const base::Error& error, std::size_t count);
  void wakeWaiters();
  observe::Gauge* gauge(ConnectionUse use);
  void markDirty();

  Upstreams& owner_;
  const std::shared_ptr<const routing::BackendPlan> plan_;
  Budget& budget_;
  std::unique_ptr<net::TlsClientContext> tls_;
  std::optional<base::Error> broken_;  // the TLS context could not be made
  std::optional<http::Version> version_;
  std::vector<base::Handle<Connection>> idle_;   // HTTP/1.1, most recently used last
  std::vector<base::Handle<Connection>> shared_;  // HTTP/2
  std::deque<http::Token> waiters_;
  observe::Gauge& idleGauge_;
  observe::Gauge& activeGauge_;
  std::size_t connecting_ = 0;
  std::size_t open_ = 0;  // connecting and serving
  std::size_t attached_ = 0;  // connections, those that are to be reaped included
  std::size_t users_ = 0;     // exchanges
  bool resolving_ = false;
  bool retired_ = false;
};

}  // namespace sluice::upstream

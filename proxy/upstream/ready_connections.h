// The connections of one pool that serve any client, from which it takes one for each request. Owned by the pool; one
// thread.
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/slab.h"

namespace sluice::upstream {

class Connection;
class UpstreamContext;

class ReadyConnections {
 public:
  explicit ReadyConnections(UpstreamContext& owner) : owner_(owner) {}

  /// Adds a connection of HTTP/2, which stays until it is removed.
  void share(const Connection& connection);
  /// Adds a connection that serves one request at a time and is done with its last one, unless it is here already.
  void addIdle(Connection& connection);
  void remove(Connection& connection);
  /// Returns a connection with room for one request, and takes it off the list if it serves one at a time: that of
  /// HTTP/2 with the fewest requests, else the one that became idle last; nullptr if there is none.
  Connection* take();

  /// Returns how many connections serve one request at a time and are idle.
  std::size_t idle() const { return idle_.size(); }
  /// Returns the number of connections of HTTP/2.
  std::size_t shared() const { return shared_.size(); }
  /// Returns true if a connection of HTTP/2 has no request.
  bool hasIdleShared() const;
  /// Returns the number of requests on connections of HTTP/2.
  std::size_t streams() const;
  /// Returns how many requests could be begun now.
  std::size_t spare() const;
  /// Returns true if this connection of HTTP/2 is so busy that another one should be opened.
  bool isBusy(Connection& connection) const;
  /// Returns true if all connections of HTTP/2 are that busy.
  bool allBusy() const;
  /// Returns the one that has been without a request for longest, of those that have had one or were made before
  /// `made`; nullptr if there is none.
  Connection* leastRecentlyUsed(base::MonotonicTime made) const;
  /// Closes those that serve one request at a time and are idle.
  void drainIdle();
  /// Closes each as soon as its requests have ended.
  void drain();

 private:
  Connection* leastLoaded() const;
  Connection* takeIdle();

  UpstreamContext& owner_;
  std::vector<base::Handle<Connection>> idle_;    // HTTP/1.1, most recently used last
  std::vector<base::Handle<Connection>> shared_;  // HTTP/2
};

}  // namespace sluice::upstream

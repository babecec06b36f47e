// Bounds the connections of clients of one address (limits.connectionsPerAddress) and their new TLS handshakes per
// second (limits.handshakesPerAddress), so that one client leaves room and processor time to the others.
//
// Addresses of one net::ClientNetwork are counted together. It belongs to the acceptor's thread; a place may end on any
// thread. It remembers at most the addresses of open connections and, for a second, of handshakes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "proxy/base/clock.h"
#include "proxy/base/settings.h"
#include "proxy/net/address.h"
#include "proxy/observe/metrics.h"

namespace sluice::server {

class AddressLimits {
 public:
  /// A connection keeps it for as long as it is open. Null if there is no bound.
  using Place = std::shared_ptr<const void>;

  explicit AddressLimits(observe::MetricShard& metrics);

  /// 0 means no bound. Connections that were admitted without a bound are not counted.
  void setBounds(const base::LimitSettings& limits);

  /// Admits a connection of `peer`, and sets its place. Returns the name of the limit, which it counts, if that exceeds
  /// a bound; else nothing. `tls` connections begin with a handshake. Times never go back.
  std::string_view admit(const net::Address& peer, bool tls, base::MonotonicTime now, Place& place);
  /// Returns the number of addresses that it remembers.
  std::size_t remembered() const { return clients_.size(); }

 private:
  struct Client {
    Place place;  // each of its connections has a copy
    std::uint64_t handshakes = 0;
    base::MonotonicTime secondBegan = {};
  };

  /// Drops clients without connections and recent handshakes once there may be many. On average this costs a few steps
  /// for each client that is added.
  void sweep(base::MonotonicTime now);

  std::uint64_t mostConnections_ = 0;
  std::uint64_t mostHandshakes_ = 0;
  observe::Counter& refusedConnections_;
  observe::Counter& refusedHandshakes_;
  std::unordered_map<net::ClientNetwork, Client> clients_;
  std::size_t sweepAt_ = 64;
};

}  // namespace sluice::server

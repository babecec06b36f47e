// Divides the process's descriptors, so that no use can take those that another one needs: clients leave some to
// Backends, and both leave some to the admin and health ports, to lookups of names and to files.
//
// The system gives the lowest free number, so a high number means that few are left.
#pragma once

#include <algorithm>
#include <cstddef>

#include "proxy/net/dns/resolver.h"

namespace sluice::server {

struct DescriptorShares {
  explicit DescriptorShares(std::size_t most)
      : adminConnections(std::max<std::size_t>(4, most / 64)),
        lookups(std::max<std::size_t>(8, most / 16)),
        // There are two ports, and each may have as many descriptors again for connections that give way at the end of
        // a round.
        backends(most - std::min(most, 4 * adminConnections + lookups / 2 + kOthers)),
        clients(std::min(most - most / 4, backends - backends / 6)) {}

  /// Descriptors for other uses than the loops and the listening sockets: configuration files, the access log when it
  /// is opened again.
  static constexpr std::size_t kOthers = 8;

  /// Returns how many names each worker may look up at a time. There is a minimum, because a lookup without an answer
  /// delays those that wait for it.
  std::size_t lookupsOf(std::size_t workers) const {
    return std::clamp<std::size_t>(lookups / workers, 4, net::ResolverParts{}.maxLookups);
  }

  std::size_t adminConnections;  // for each of the two ports
  std::size_t lookups;           // of all workers at a time; descriptors are reserved for half of them
  std::size_t backends;          // a connection to a Backend has a number below this one
  std::size_t clients;           // a client's connection has a number below this one
};

}  // namespace sluice::server

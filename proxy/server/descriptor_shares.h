// Who may have how many of the process's descriptors, so that none of them can take what another one needs: clients
// leave some to Backends, and both leave some to the admin and health ports, to DNS and to files.
//
// The system gives the lowest number that is free: a high one says that few are left.
#pragma once

#include <algorithm>
#include <cstddef>

namespace sluice::server {

struct DescriptorShares {
  explicit DescriptorShares(std::size_t most)
      : adminConnections(std::max<std::size_t>(4, most / 64)),
        // Two ports, each of which may have as many for a round that are about to give way.
        backends(most - std::min(most, 4 * adminConnections + kOthers)),
        clients(std::min(most - most / 4, backends - backends / 6)) {}

  /// Beside the loops and the listening sockets: configuration files, the access log when it is opened anew, DNS.
  static constexpr std::size_t kOthers = 8;

  std::size_t adminConnections;  // of each of the two ports
  std::size_t backends;          // a connection to a Backend has a number below this one
  std::size_t clients;           // a connection of a client, below this one
};

}  // namespace sluice::server

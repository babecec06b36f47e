// The sockets that the process listens on, by address: kept from one generation to the next where both want them.
//
// The main thread's; the acceptor takes connections from them on its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/control/generation.h"
#include "proxy/net/listener.h"

namespace sluice::server {

/// Whose connections come by a socket.
struct BoundSocket {
  control::BindId bind = 0;
  const net::ListenSocket* socket = nullptr;
};

class ListenSockets {
 public:
  /// Opens what is wanted and not open yet, beside what is open and not wanted any more: a port may go from one address
  /// to all of them. If one can not be had, none of the new ones stays.
  base::Status open(const control::Generation& generation);
  /// The open sockets that it wants.
  std::vector<BoundSocket> of(const control::Generation& generation) const;
  /// Closes what it does not want; nobody takes connections from those any more.
  void closeOthers(const control::Generation& generation);

 private:
  std::vector<const net::ListenSocket*> ofPort(std::uint16_t port) const;

  std::map<std::string, net::ListenSocket> sockets_;  // by "address:port"
};

}  // namespace sluice::server

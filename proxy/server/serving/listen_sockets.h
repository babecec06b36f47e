// The sockets that the process listens on, by address: a socket is kept from one generation to the next if both listen
// on it.
//
// Belongs to the main thread; the acceptor takes connections from the sockets on its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "proxy/compile/ground/unusable_place.h"
#include "proxy/control/state/generation.h"
#include "proxy/net/tcp_listener.h"

namespace sluice::server {

/// A socket and the listener whose connections it accepts.
struct BoundSocket {
  control::BindId bind = 0;
  bool tls = false;
  const net::ListenSocket* socket = nullptr;
};

class ListenSockets {
 public:
  /// Opens the sockets of a generation that are not open yet, beside open ones that it does not listen on any more: a
  /// port may go from one address to all of them. Returns the binds that have no socket, and the reasons.
  compile::UnusablePlaces open(const control::Generation& generation);
  /// Returns the places of a snapshot where the process could not listen now. Sockets that are opened for that are
  /// closed again.
  compile::UnusablePlaces unusable(const routing::Snapshot& snapshot) const;
  /// Opens sockets for these places. Returns true if one of them could be opened.
  bool openAny(const compile::UnusablePlaces& places);
  /// Returns the open sockets that the generation listens on.
  std::vector<BoundSocket> of(const control::Generation& generation) const;
  /// Closes the sockets that the generation does not listen on; no connections are accepted from them any more.
  void closeOthers(const control::Generation& generation);

 private:
  /// Returns why the address cannot be listened on; empty if it can.
  std::string openOne(const net::Address& address);
  std::vector<const net::ListenSocket*> ofPort(std::uint16_t port) const;

  std::map<std::string, net::ListenSocket> sockets_;  // keyed by "address:port"
};

}  // namespace sluice::server

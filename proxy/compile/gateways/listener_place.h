// A ListenerPlace is the port at which a listener of a configuration is served. KnownPlaces is the state of the process
// that decides about such places.
//
// The next configuration may move the listener to a port where the process cannot listen yet. Until it can, the
// listener is served at its earlier port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/compile/gateways/address_pool.h"
#include "proxy/compile/ground/unusable_place.h"

namespace sluice::compile {

struct ListenerPlace {
  std::string gateway;  // kind, namespace and name
  std::string listener;
  std::uint16_t port = 0;
  bool tls = false;
};

using ListenerPlaces = std::vector<ListenerPlace>;

/// The places that a compilation has to take into account. The process knows them from its flags, or has found them out
/// itself.
struct KnownPlaces {
  UnusablePlaces unusable = {};  // the process cannot listen there
  ListenerPlaces served = {};    // the places of the configuration that is served now
  /// The pool for Gateways without an address. Without a pool they get all addresses of the machine.
  std::optional<AddressPool> pool = std::nullopt;
  /// The addresses of Gateways in the configuration that is served now, and the known addresses of Gateways that are
  /// not in it.
  GatewayAddresses addresses = {};
};

}  // namespace sluice::compile

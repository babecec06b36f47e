// The port that a listener of a configuration is served at, and what else of the process decides about places.
//
// The next configuration may move the listener to a port where the process cannot listen yet. Until it can, the
// listener is served at the port that it had.
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

/// The places that a compilation has to take into account, as the process was told or has found them.
struct KnownPlaces {
  UnusablePlaces unusable = {};  // nothing listens there
  ListenerPlaces served = {};    // the places of the configuration that is served now
  /// Gateways without an address get one of the pool; without a pool they get all addresses of the machine.
  std::optional<AddressPool> pool = std::nullopt;
  /// Of the configuration that is served now, and of Gateways that it does not have as far as they are known.
  GatewayAddresses addresses = {};
};

}  // namespace sluice::compile

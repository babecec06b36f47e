// The port that a listener of a configuration is served at.
//
// The next configuration may move the listener to a port where the process cannot listen yet. Until it can, the
// listener is served at the port that it had.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/control/compile/gateways/unusable_place.h"

namespace sluice::control {

struct ListenerPlace {
  std::string gateway;  // kind, namespace and name
  std::string listener;
  std::uint16_t port = 0;
  bool tls = false;
};

using ListenerPlaces = std::vector<ListenerPlace>;

/// The places that a compilation has to take into account, as the process has found them.
struct KnownPlaces {
  UnusablePlaces unusable;  // nothing listens there
  ListenerPlaces served;    // the places of the configuration that is served now
};

}  // namespace sluice::control

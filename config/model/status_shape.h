// A StatusShape is the form that the CRD of a kind gives to the status of its objects.
#pragma once

#include <cstdint>

namespace sluice::config {

enum class StatusShape : std::uint8_t {
  kConditions,  // GatewayClass and all kinds with plain conditions
  kGateway,     // conditions, listeners, addresses
  kParents,     // HTTPRoute, GRPCRoute, XBackend
  kAncestors,   // PayloadProcessor and policies
  kControllers  // Backend, except that of Envoy Gateway
};

}  // namespace sluice::config

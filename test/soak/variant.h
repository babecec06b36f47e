// The parts in which one configuration of the soak differs from the next, and the documents that contain them.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace sluice::soak {

struct Variant {
  static constexpr int kExtraRoutes = 8;

  /// Version that /version answers with.
  int version = 1;
  bool second = false;       // / leads to the second of two origins
  bool moreTrust = false;    // its Backend trusts another authority too
  bool presents = false;     // its Backend has a client certificate
  bool pinnedRight = true;   // /pinned's Backend trusts the right authority
  bool otherIssuer = false;  // another issuer of the HTTPS listener's certificate
  bool extraListener = false;
  bool impatient = false;  // a timeout for /rough's rule, below streamIdle
  bool insistent = false;  // /rough's rule retries
  bool mirrored = false;   // /plain's requests are mirrored to origins that are rough, or gone
  bool append = false;     // mode of forwardedHeaders
  std::array<int, 2> weights = {1, 1};
  /// State of /service: its endpoints, of which the last one is dead, and whether it uses HTTP/2.
  std::array<bool, 3> ready = {true, true, false};
  bool priorKnowledge = false;
  int bodyIdle = 10;  // in seconds
  std::array<bool, kExtraRoutes> extraRoutes = {};
  /// True gives /version a route that its schema refuses.
  bool misspelt = false;
  bool takenPort = false;  // a listener has a port that is already in use

  /// Returns the next variant, in which any part may differ.
  Variant next(std::mt19937& random) const;
};

/// Returns the HTTPRoutes as the text of a file.
std::string routesOf(const Variant& variant);
/// Returns the Service behind /service and its EndpointSlice, with the endpoints network + firstHost and upwards.
std::string serviceOf(const Variant& variant, const std::string& network, int firstHost, std::uint16_t port);

}  // namespace sluice::soak

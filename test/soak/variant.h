// What one configuration of the soak says differently from the next, and the documents that say it.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace sluice::soak {

struct Variant {
  static constexpr int kExtraRoutes = 8;

  /// /version answers with it.
  int version = 1;
  bool second = false;       // / leads to the second of two origins
  bool moreTrust = false;    // its Backend trusts another authority too
  bool presents = false;     // and has a client certificate
  bool pinnedRight = true;   // /pinned's Backend trusts the right authority
  bool otherIssuer = false;  // of the certificate of the HTTPS listener
  bool extraListener = false;
  bool impatient = false;  // a timeout for /rough's rule, below streamIdle
  bool insistent = false;  // /rough's rule retries
  bool mirrored = false;   // /plain's requests are copied to origins that are rough, or gone
  bool append = false;     // forwardedHeaders
  std::array<int, 2> weights = {1, 1};
  /// Of /service: its endpoints, of which the last one is dead, and whether it speaks HTTP/2.
  std::array<bool, 3> ready = {true, true, false};
  bool priorKnowledge = false;
  int bodyIdle = 10;  // seconds
  std::array<bool, kExtraRoutes> extraRoutes = {};
  /// /version's route is one that its schema refuses.
  bool misspelt = false;

  /// The next one, in which anything may be different.
  Variant next(std::mt19937& random) const;
};

/// HTTPRoutes, as a file has them.
std::string routesOf(const Variant& variant);
/// The Service behind /service and its EndpointSlice, with endpoints network + firstHost and upwards.
std::string serviceOf(const Variant& variant, const std::string& network, int firstHost, std::uint16_t port);

}  // namespace sluice::soak

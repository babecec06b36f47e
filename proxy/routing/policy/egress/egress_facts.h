// The facts of a request or a connection by which EgressPolicies are judged, and what each way out can see of them.
//
// A way is a row of data. The engine knows no way: a new one is a new row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/ip_network.h"
#include "proxy/base/terms/caller.h"

namespace sluice::routing {

enum class EgressWay : std::uint8_t {
  kReverse,     // a request of a route, to a Backend or a Service
  kAbsolute,    // a request to a forward proxy, in absolute form
  kConnect,     // a tunnel by CONNECT
  kTls,         // a TLS connection that is passed through
  kTcp,         // a connection of any protocol
  kHealthCheck  // a health check, which nobody has asked for
};

/// Says how much a way can see of a fact.
enum class Sight : std::uint8_t {
  kSeen,
  /// No rule that gives the fact is true or false by it.
  kUnknown,
  /// There is no such fact. An Allow rule that gives it is not held to it, and a Deny rule that gives it is false.
  kAbsent
};

struct EgressSight {
  std::string_view name;  // in logs
  Sight client;           // from
  Sight http;             // http
  Sight serverName;       // tls.sni
};

inline constexpr std::array<EgressSight, 6> kEgressWays{{
    {"reverse", Sight::kSeen, Sight::kSeen, Sight::kAbsent},
    {"absolute", Sight::kSeen, Sight::kSeen, Sight::kAbsent},
    {"connect", Sight::kSeen, Sight::kUnknown, Sight::kSeen},
    {"tls", Sight::kSeen, Sight::kUnknown, Sight::kSeen},
    {"tcp", Sight::kSeen, Sight::kUnknown, Sight::kAbsent},
    {"health check", Sight::kAbsent, Sight::kAbsent, Sight::kAbsent},
}};

constexpr const EgressSight& sightOf(EgressWay way) { return kEgressWays[static_cast<std::size_t>(way)]; }

/// A method, and a path in normal form without its query.
struct EgressHttp {
  std::string_view method;
  std::string_view path;

  friend bool operator==(const EgressHttp&, const EgressHttp&) = default;
};

struct EgressFacts {
  EgressWay way = EgressWay::kReverse;
  /// The client's address; empty if it is not known, or if the way has none.
  base::AddressBytes client = {};
  /// Null if nothing is known of the caller.
  const base::Caller* caller = nullptr;
  /// True if nobody has said who the caller is, as in an explanation. Rules by callers are then neither true nor false.
  /// Never true for a request.
  bool callerUnknown = false;
  /// The name that is dialled, in lower case and without a trailing dot; empty for an IP literal.
  std::string_view name;
  std::uint16_t port = 0;
  /// True if the configuration names the destination, and not the client. Rules without ports then match any port.
  bool isStatic = true;
  /// True if the client has named an `http` target, whose usual port is 80.
  bool isPlainTarget = false;
  /// True if the hop to the destination is TLS; nullopt in a tunnel until its first bytes have come.
  std::optional<bool> tls = false;
  EgressHttp sent = {};     // as the client sent the request; without a method, both are not known
  EgressHttp leaving = {};  // as the request leaves
  /// True if the request was matched without the parameters of its path. Both paths then count without them, too.
  bool ignoresPathParameters = false;
  /// The name of TLS in a tunnel: nullopt until its first bytes have come; empty if these are no TLS or name no server.
  /// No hostname of an Allow rule matches TLS that names no server.
  std::optional<std::string_view> serverName = std::nullopt;
  /// The address that is about to be dialled; empty until it is known.
  base::AddressBytes address = {};
};

}  // namespace sluice::routing

// Decides which errors of requests are denials by a policy or a limit, and which object each event about one concerns:
// the one whose rule or limit it is, so that a flood of requests counts against that object alone.
//
// Pure functions.
#pragma once

#include <optional>
#include <string>

#include "proxy/base/error.h"
#include "proxy/exchange/exchange.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

struct Denial {
  std::string object;  // as events name it: "Backend demo/api"
  std::string message;
};

/// Returns the denial of an exchange that has ended with an error; nullopt if it was not denied. Mistakes of the client
/// are no denials.
std::optional<Denial> denialOf(const Exchange& exchange);
/// Returns the denial of one of the gateway's own requests, to that Backend.
std::optional<Denial> denialOf(const base::Error& error, const routing::BackendPlan& backend);

}  // namespace sluice::exchange

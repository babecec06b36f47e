// What gateways in a row tell each other, so that requests go in no circle and attempts are not multiplied: Via says
// that a gateway has passed the request on, and Proxy-Status (RFC 9209) that a failure stands after all attempts which
// a gateway behind this one makes. Pure functions.
#pragma once

#include <cstdint>

#include "proxy/base/arena.h"
#include "proxy/base/error.h"
#include "proxy/exchange/transaction/attempt_head.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {

/// Says who has passed a request on, as its Via tells.
enum class Passage : std::uint8_t {
  kNone,     // no gateway
  kGateway,  // another gateway, and not this one
  kHere      // this gateway, so that the request has gone in a circle
};

Passage passageOf(const http::Headers& headers, const GatewayIdentity& identity);

/// Returns true if that error of this gateway's own is its last word. One of a limit of its own is not: another gateway
/// may serve the request.
bool isFinalHere(const base::Error& error);
/// Returns true if a gateway behind this one says that the response is its last word.
bool isFinalBehind(const http::Headers& headers);
/// Removes what gateways behind this one say of the response, which is not for clients.
void hideFinal(base::Arena& arena, http::Headers& headers);

/// Say of a response that it is the last word of this gateway: one with that status that it passes on, or its own.
void markFinal(base::Arena& arena, const GatewayIdentity& identity, std::uint16_t received, http::Headers& headers);
void markFinal(base::Arena& arena, const GatewayIdentity& identity, const base::Error& error, http::Headers& headers);

}  // namespace sluice::exchange

// The fields by which several gateways in a row avoid loops and do not multiply retries. Via, or Sluice-Via, shows that
// a gateway has forwarded the request. Proxy-Status (RFC 9209) shows that a failure is final, because a gateway behind
// this one has made all its attempts. Pure functions.
#pragma once

#include <cstdint>

#include "proxy/base/arena.h"
#include "proxy/base/error.h"
#include "proxy/exchange/transaction/attempt_head.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {

/// The gateways that have forwarded a request, according to its Via and Sluice-Via.
enum class Passage : std::uint8_t {
  kNone,     // no gateway
  kGateway,  // another gateway, and not this one
  kHere      // this gateway, so the request is in a loop
};

Passage passageOf(const http::Headers& headers, const GatewayIdentity& identity);

/// Returns true if that error of this gateway is final, so that a gateway before it must not retry. An error of one of
/// its own limits is not, because another gateway may serve the request.
bool isFinalHere(const base::Error& error);
/// Returns true if a gateway behind this one has marked the response as final.
bool isFinalBehind(const http::Headers& headers);
/// Removes the marks of gateways behind this one, which are not meant for clients.
void hideFinal(base::Arena& arena, http::Headers& headers);

/// Mark a response of this gateway as final: a forwarded one with the status `received`, or its own with `error`.
void markFinal(base::Arena& arena, const GatewayIdentity& identity, std::uint16_t received, http::Headers& headers);
void markFinal(base::Arena& arena, const GatewayIdentity& identity, const base::Error& error, http::Headers& headers);

}  // namespace sluice::exchange

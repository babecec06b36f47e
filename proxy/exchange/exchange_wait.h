// Finds the event that an exchange waits for at this moment, so that operators can find out why a request hangs.
//
// It is derived from the state of the exchange on request; no state is kept for it. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/exchange/exchange_state.h"

namespace sluice::exchange {

enum class Wait : std::uint8_t {
  kNothing,        // it goes on at once
  kResolver,       // the name servers
  kConnection,     // a connection to the Backend: all are in use, or a new one may not be opened yet
  kDial,           // a TCP connection to the Backend
  kHandshake,      // the TLS handshake with the Backend
  kPassword,       // the check of the client's password
  kProcessor,      // the answer that a suspended step waits for
  kRequestBody,    // the client: more of its body
  kResponseHead,   // the Backend: the head of its response, or the 100 (Continue) that the client waits for
  kResponseBody,   // the Backend: more of its body
  kEitherSide,     // the client or the Backend: both may send
  kClientCredit,   // the client does not take the bytes that wait for it
  kBackendCredit,  // the Backend does not take the bytes that wait for it
  kBackoff,        // the time of the next attempt
  kTunnel          // either side of a tunnel
};
inline constexpr std::size_t kWaits = 15;

/// The words that operators read, in the order of Wait. config/reference/admin.md explains each.
inline constexpr std::array<std::string_view, kWaits> kWaitNames = {
    "nothing",        "resolver",      "connection",     "dial",          "tls-handshake",
    "password-check", "processor",     "request-body",   "response-head", "response-body",
    "either",         "client-credit", "backend-credit", "backoff",       "tunnel"};

inline std::string_view waitName(Wait wait) { return kWaitNames[static_cast<std::size_t>(wait)]; }

struct ExchangeWait {
  Wait what = Wait::kNothing;
  std::string where = {};  // the name that is resolved, or the address of a connection that is being made; else empty
};

/// If the exchange waits for several things, this returns the first in this order: a step, a side that does not take
/// bytes, a connection, a side that does not send.
ExchangeWait waitOf(const ExchangeState& state);

/// Returns since when the client has held up an attempt, because it brings no bytes of its body or takes none of the
/// response; max() if it does not. Where both sides may send, as in gRPC, the client is the one that holds it up until
/// the response begins.
base::MonotonicTime clientOwesSince(const ExchangeState& state);

}  // namespace sluice::exchange

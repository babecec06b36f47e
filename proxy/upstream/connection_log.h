// Writes debug lines about the connections to Backends: one when a connection is open, and one when it has ended, with
// the reason. A failed dial has only the second line.
//
// Each connection has one, which keeps the reason until the end. Nothing is rendered unless the line is written. One
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/base/box.h"
#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"
#include "proxy/net/transport.h"
#include "proxy/observe/bounded_log.h"

namespace sluice::upstream {

enum class ConnectionEnd : std::uint8_t {
  kStopped,          // the process stops
  kIdle,             // no request has used it for timeouts.upstreamIdle, or for the time of a policy
  kLifetime,         // it is as old, or has had as many requests, as a policy allows
  kDrained,          // the gateway has no use for it any more: its Backend or address has gone, or the client it served
  kPeerClosed,       // the Backend closed it
  kGoaway,           // the Backend takes no further request: GOAWAY
  kConnectionClose,  // the same in HTTP/1.1: Connection: close, or a body that ends with the connection
  kNotReusable,      // its last request left it unusable: it was cut short or a tunnel, or the answer was malformed
  kError             // it could not be opened, or was lost
};
inline constexpr std::size_t kConnectionEnds = 9;

/// The words of the lines, in the order of ConnectionEnd. config/reference/metrics.md explains each.
inline constexpr std::array<std::string_view, kConnectionEnds> kConnectionEndNames = {
    "stopped", "idle", "lifetime", "drained", "peer-closed", "goaway", "connection-close", "not-reusable", "error"};

class ConnectionLog {
 public:
  /// `out` outlives it; nothing is written if it is null. The connection is made at `now`.
  ConnectionLog(observe::BoundedLog* out, base::MonotonicTime now) : out_(out), dialled_(now) {}

  /// Called when an address is dialled. If there are several, the lines have the last one.
  void onDial(base::MonotonicTime now) { dialled_ = now; }
  /// Writes the line of a connection that is open. `tls` is null without TLS.
  void tellOpen(std::string_view backend, const net::Address& peer, http::Version version, const net::TlsFacts* tls,
                base::MonotonicTime now);

  /// Notes why the connection ends. Only the first reason is kept.
  void note(ConnectionEnd why) {
    if (end_ == ConnectionEnd::kStopped) end_ = why;
  }
  void note(const base::Error& error);
  /// Writes the line of a connection that has ended, after that many requests.
  void tellEnd(std::string_view backend, const net::Address& peer, std::uint64_t requests, base::MonotonicTime now);

 private:
  observe::BoundedLog* const out_;
  base::MonotonicTime dialled_;
  base::Box<base::Error> error_;
  ConnectionEnd end_ = ConnectionEnd::kStopped;
};

}  // namespace sluice::upstream

// Tells operators, by debug lines, of the connections to Backends themselves: when one is open, and why it ended. A
// connection that was never opened has the second line alone.
//
// Each connection has one, which keeps why it ended until then; nothing is rendered unless the line is written. One
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
  kIdle,             // no request has used it for timeouts.upstreamIdle, or as long as a policy says
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

  /// Called when an address is dialled; of several, the last one counts.
  void onDial(base::MonotonicTime now) { dialled_ = now; }
  /// Writes the line of a connection that is open. `tls` is null without TLS.
  void tellOpen(std::string_view backend, const net::Address& peer, http::Version version, const net::TlsFacts* tls,
                base::MonotonicTime now);

  /// Notes why the connection ends. The first reason counts.
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

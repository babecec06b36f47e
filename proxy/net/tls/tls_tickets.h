// The sessions that a client context can resume. Bounded, one thread.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/pki/validity.h"

namespace sluice::net {

struct SslSessionFree {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using SslSession = std::unique_ptr<SSL_SESSION, SslSessionFree>;

/// A session, which is resumed without another verification of the peer.
struct TlsTicket {
  SslSession session;      // null if there is none
  pki::Validity validity;  // of the verification in the handshake that began the session
};

class TlsTickets {
 public:
  /// A session is 1 to 3 KiB, and a server sends two tickets per connection as a rule.
  static constexpr std::size_t kMaxTickets = 32;

  void store(TlsTicket ticket);
  /// Returns the youngest ticket, for one use (RFC 8446 appendix C.4), or the last session of TLS 1.2. Sessions whose
  /// peer would be refused by now are dropped.
  TlsTicket take(base::WallTime now);
  std::size_t size() const { return tickets_.size(); }

 private:
  std::vector<TlsTicket> tickets_;  // TLS 1.3, youngest last
  TlsTicket reusable_;              // TLS 1.2
};

}  // namespace sluice::net

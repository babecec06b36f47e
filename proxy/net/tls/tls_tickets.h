// The sessions that a client context can resume. Bounded, one thread.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice::net {

struct SslSessionFree {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using SslSession = std::unique_ptr<SSL_SESSION, SslSessionFree>;

class TlsTickets {
 public:
  /// A session is 1 to 3 KiB, and a server sends two tickets per connection as a rule.
  static constexpr std::size_t kMaxTickets = 32;

  void store(SslSession session);
  /// Returns the youngest ticket, for one use (RFC 8446 appendix C.4), or the last session of TLS 1.2, or nullptr.
  SslSession take();
  std::size_t size() const { return tickets_.size(); }

 private:
  std::vector<SslSession> tickets_;  // TLS 1.3, youngest last
  SslSession reusable_;              // TLS 1.2
};

}  // namespace sluice::net

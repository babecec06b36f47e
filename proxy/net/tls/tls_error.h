// Turns OpenSSL's error queue after a failed TLS call into an Error with its origin and type. Private to the tls
// files.
#pragma once

#include <openssl/ssl.h>

#include "proxy/base/error.h"

namespace sluice::net {

/// The peer's side, to which an error of the connection is attributed.
enum class TlsPeer : std::uint8_t { kBackend, kClient };

/// Returns the error of a call on `ssl` that has just failed with SSL_ERROR_SSL or SSL_ERROR_SYSCALL; empties the
/// thread's error queue. `certificateMissing`: the peer demanded a client certificate and none is configured.
base::Error takeTlsError(const SSL* ssl, TlsPeer peer, bool certificateMissing);

/// Returns the error of a connection that the Backend gave up because this side refuses a renegotiation.
base::Error renegotiationRefused();

/// Returns the error of a connection that ended before the handshake was complete.
base::Error endedInHandshake(TlsPeer peer);

}  // namespace sluice::net

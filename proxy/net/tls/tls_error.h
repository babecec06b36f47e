// What a failed TLS call means: OpenSSL's error queue turned into the errors of design.md. Private to the tls files.
#pragma once

#include <openssl/ssl.h>

#include "proxy/base/error.h"

namespace sluice::net {

/// The peer's side: whom an error of the connection is put down to.
enum class TlsPeer : std::uint8_t { kBackend, kClient };

/// To be called right after a call on `ssl` failed with SSL_ERROR_SSL or SSL_ERROR_SYSCALL; empties the thread's error
/// queue. `certificateMissing`: the peer demanded a client certificate and we have none.
base::Error takeTlsError(const SSL* ssl, TlsPeer peer, bool certificateMissing);

/// The connection was ended before the handshake was complete.
base::Error endedInHandshake(TlsPeer peer);

}  // namespace sluice::net

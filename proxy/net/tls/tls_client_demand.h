// The certificates of clients on the server's side: what a context asks for, and how a handshake judges what it gets.
// Private to the tls files.
#pragma once

#include <openssl/ssl.h>

#include "proxy/base/clock.h"
#include "proxy/net/tls/tls.h"

namespace sluice::net {

/// Lets the context ask its clients for a certificate, with the names of the authorities, and never resume a session.
/// The demand outlives the context.
void setUpDemand(SSL_CTX* context, const TlsClientDemand& demand);

/// Lets the connection use the certificate of another context of its listener, and its demand. Returns false if memory
/// is short.
bool moveTo(SSL* ssl, SSL_CTX* context);

/// Sets the clock by which the certificate of the connection's client is judged. Needed if a context of the
/// listener has a demand. The clock outlives the connection.
void useClock(SSL* ssl, const base::Clock& clock);

}  // namespace sluice::net

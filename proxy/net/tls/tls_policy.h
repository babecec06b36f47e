// The versions and cipher suites of TLS that a client context offers. Private to the tls files.
#pragma once

#include <openssl/ssl.h>

#include "proxy/base/result.h"
#include "proxy/net/tls/tls.h"

namespace sluice::net {

/// Applies minVersion and cipherSuites of the settings. A suite that this build does not know, or that does not
/// encrypt or authenticate, is left out; it is an error of config's origin if none is left, or none for the minimum
/// version.
base::Status restrictVersionsAndCiphers(SSL_CTX* context, const TlsClientSettings& settings);

}  // namespace sluice::net

// Reads a ClientHello before OpenSSL has parsed it, for decisions that come before a session is looked up. Within
// SSL_CTX_set_client_hello_cb's callback only. Private to the tls files.
#pragma once

#include <openssl/ssl.h>

#include <string_view>

namespace sluice::net {

/// Returns the host name of the server_name extension (RFC 6066 section 3) as it was sent; empty if there is none or
/// the extension is malformed, which OpenSSL refuses later. Lives as long as the callback.
std::string_view helloServerName(SSL* ssl);

}  // namespace sluice::net

// One end of a TLS connection without a socket: its owner moves the bytes. For peers of tests that must see and cut the
// plaintext. One thread.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "test/support/test_pki.h"

namespace sluice::test {

/// The TLS context that all connections of one kind share. Any thread may make pipes of it.
class TlsPipeContext {
 public:
  /// A server with this identity, which asks for no client certificate. It chooses http/1.1 by ALPN, and nothing else.
  static TlsPipeContext server(const CertifiedKey& identity);
  /// A client that trusts this authority (PEM), presents its identity if it is asked, and offers this protocol by ALPN,
  /// or no ALPN if it is empty.
  static TlsPipeContext client(const std::string& authority, const std::optional<CertifiedKey>& identity,
                               const std::string& protocol = {});

 private:
  friend class TlsPipe;
  struct FreeTlsContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  explicit TlsPipeContext(bool isServer);
  void identify(const CertifiedKey& identity);

  bool isServer_;
  std::unique_ptr<SSL_CTX, FreeTlsContext> context_;
};

class TlsPipe {
 public:
  explicit TlsPipe(const TlsPipeContext& context);

  /// Takes bytes that came from the peer and appends the plaintext in them to `plaintext`. Returns false once the peer
  /// has ended the connection, or broken it.
  bool receive(std::string_view bytes, std::string& plaintext);
  /// Encrypts plaintext for the peer; plaintext that comes before the end of the handshake waits for it.
  void send(std::string_view plaintext);
  /// Sends close_notify.
  void finish();
  /// Returns the bytes that are to be sent to the peer, and forgets them.
  std::string takeOutput();
  /// Returns the code of the fatal alert that the peer has sent, as RFC 8446 numbers them; 0 if it has sent none.
  int alert() const { return *alert_; }

 private:
  struct FreeTls {
    void operator()(SSL* tls) const { SSL_free(tls); }
  };
  void encrypt();

  std::unique_ptr<int> alert_ = std::make_unique<int>(0);  // stays where it is when the pipe moves
  std::unique_ptr<SSL, FreeTls> tls_;
  std::string waiting_;  // plaintext that no handshake has made way for
};

}  // namespace sluice::test

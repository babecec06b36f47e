// The contents of the contexts of tls.h: OpenSSL's SSL_CTX, set up once, and the data of its callbacks. Private to the
// tls files.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/tls/tls.h"
#include "proxy/net/tls/tls_bio.h"
#include "proxy/net/tls/tls_tickets.h"
#include "proxy/net/tls/tls_verify.h"

namespace sluice::net {

struct SslContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslContextFree>;

/// The data that OpenSSL's callbacks read and write for one connection to a server. It is the app data of its SSL.
struct TlsClientNotes {
  pki::Validity resumed;              // of the session that was offered to the server
  bool refusedRenegotiation = false;  // the server has asked for one, and has sent no data since
};

struct TlsClientContext::ClientState {
  BioMethod bioMethod = makeWireMethod();
  SslContext context;
  std::string sni;  // empty for an IP literal
  bool hasCertificate = false;
  std::optional<PeerRules> rules;
  TlsTickets tickets;
  /// The end of the validity of every verification.
  base::WallTime listsExpire = base::WallTime::max();
};

struct TlsServerContext::ServerState {
  struct ListenerCertificate {
    std::shared_ptr<const pki::CertificateChain> certificate;
    std::shared_ptr<const TlsClientDemand> clients;  // null if there is none; the context refers to it
    SslContext context;
  };
  BioMethod bioMethod = makeWireMethod();
  /// In the settings' order; connections begin with the first.
  std::vector<ListenerCertificate> certificates;
  std::string alpn;        // in wire format
  bool hasDemand = false;  // one of the certificates at least asks for one of the client
};

/// Makes a context with the settings that both sides have in common. Fails with an error of config's origin if OpenSSL
/// cannot make one.
base::Result<SslContext> makeSslContext(const SSL_METHOD* method);
/// Refuses a key that does not belong to the certificate.
base::Status useIdentity(SSL_CTX* context, const pki::CertificateChain& certificate, const pki::PrivateKey& key);
/// Returns the ProtocolNameList of RFC 7301 without its length. Fails with an error of config's origin if a name is
/// empty or longer than 255.
base::Result<std::string> alpnWireFormat(const std::vector<std::string>& names);

}  // namespace sluice::net

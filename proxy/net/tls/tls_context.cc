#include "proxy/net/tls/tls_context.h"

#include <openssl/err.h>

#include <algorithm>

#include "proxy/pki/openssl_error.h"

namespace sluice::net {
namespace {

constexpr long kModes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN;

}  // namespace

base::Result<SslContext> makeSslContext(const SSL_METHOD* method) {
  SslContext context(SSL_CTX_new(method));
  if (context == nullptr) return base::Error::config("TLS: " + pki::takeOpensslError());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(), kModes);
  // The call above reads the system's openssl.cnf, and may leave errors behind.
  ERR_clear_error();
  return context;
}

base::Status useIdentity(SSL_CTX* context, const pki::CertificateChain& certificate, const pki::PrivateKey& key) {
  if (!key.matches(certificate)) return base::Error::config("the private key does not belong to the certificate");
  if (SSL_CTX_use_certificate(context, certificate.leaf()) != 1 || SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return base::Error::config("the certificate cannot be used: " + pki::takeOpensslError());
  }
  for (X509* intermediate : certificate.intermediates()) {
    if (SSL_CTX_add1_chain_cert(context, intermediate) != 1) {
      return base::Error::config("an intermediate certificate cannot be used: " + pki::takeOpensslError());
    }
  }
  return base::Done{};
}

base::Result<std::string> alpnWireFormat(const std::vector<std::string>& names) {
  std::string wire;
  for (const std::string& name : names) {
    if (name.empty() || name.size() > 255) return base::Error::config("an ALPN name has 1 to 255 bytes");
    wire += static_cast<char>(name.size());
    wire += name;
  }
  return wire;
}

}  // namespace sluice::net

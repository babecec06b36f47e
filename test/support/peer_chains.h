// The certificates that a client shows in its TLS handshake, without a handshake.
#pragma once

#include <openssl/x509.h>

#include <memory>

#include "proxy/pki/certificate.h"
#include "proxy/pki/peer_chain.h"
#include "test/support/test_pki.h"

namespace sluice::test {

/// Returns the chain of a client that shows its certificate and those behind it, as withChain() makes them.
inline std::shared_ptr<const pki::PeerChain> shownBy(const CertifiedKey& client) {
  const auto parsed = pki::CertificateChain::parse(client.certificate).value();
  STACK_OF(X509)* const others = sk_X509_new_null();
  for (X509* each : parsed.intermediates()) sk_X509_push(others, each);
  auto shown = std::make_shared<const pki::PeerChain>(parsed.leaf(), others);
  sk_X509_free(others);
  return shown;
}

}  // namespace sluice::test

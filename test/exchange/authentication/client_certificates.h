// Certificates of clients with SPIFFE IDs, as connections show them, and rules that verify them.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "proxy/pki/certificate.h"
#include "proxy/pki/peer_chain.h"
#include "proxy/routing/policy/client_validation.h"
#include "test/support/test_pki.h"

namespace sluice::exchange {

/// Returns the specification of the certificate of the account demo/web.
inline test::CertificateSpec accountSpec(const std::string& trustDomain = "prod.test") {
  test::CertificateSpec spec;
  spec.commonName = "web";
  spec.uris = {"spiffe://" + trustDomain + "/ns/demo/sa/web"};
  spec.extendedKeyUsage = "clientAuth";
  return spec;
}

inline std::shared_ptr<const pki::PeerChain> shown(const test::CertifiedKey& key) {
  const pki::CertificateChain chain = pki::CertificateChain::parse(key.certificate).value();
  return std::make_shared<const pki::PeerChain>(chain.leaf(), nullptr);
}

/// Returns rules that demand a certificate of that authority. IDs of the trust domain prod.test name accounts.
inline routing::ClientValidation trusting(const test::CertifiedKey& authority, const std::string& lists = "") {
  auto rules = std::make_shared<pki::ClientRules>();
  rules->trust = std::make_shared<const pki::TrustStore>(pki::TrustStore::parse(authority.certificate, lists).value());
  routing::ClientValidation validation;
  validation.rules = std::move(rules);
  validation.namesCallers = true;
  validation.trustDomains = {"prod.test"};
  return validation;
}

inline base::WallTime realNow() { return std::chrono::system_clock::now(); }

}  // namespace sluice::exchange

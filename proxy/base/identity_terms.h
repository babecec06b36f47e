// How a gateway learns who its callers are, and whom it tells. Settings have it for a class, and GatewayParameters for
// one Gateway. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice::base {

/// The source ClientCertificate: certificates of clients that a Gateway's spec.tls.frontend verifies.
struct CertificateSource {
  /// The SPIFFE trust domains whose IDs name a namespace and a service account.
  std::vector<std::string> trustDomains;

  friend bool operator==(const CertificateSource&, const CertificateSource&) = default;
};

struct IdentityTerms {
  std::optional<CertificateSource> clientCertificate;  // none: certificates name no caller
  /// The field of requests by which Backends learn the caller, in lower case; empty: none.
  std::string forwardHeader;

  friend bool operator==(const IdentityTerms&, const IdentityTerms&) = default;
};

}  // namespace sluice::base

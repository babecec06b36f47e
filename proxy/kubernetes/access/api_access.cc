#include "proxy/kubernetes/access/api_access.h"

#include <string_view>

#include "proxy/pki/digest.h"

namespace sluice::kubernetes {

std::string fingerprintOfAccess(const ApiAccess& access) {
  pki::Sha256 digest;
  // The length before each part prevents that two different lists of parts have the same text.
  const auto add = [&](std::string_view part) { digest.add(std::to_string(part.size())).add(":").add(part); };
  add(access.host);
  add(std::to_string(access.port));
  add(access.pathPrefix);
  add(access.tls ? "tls" : "plain");
  if (access.tls) {
    add(access.serverName);
    add(access.insecureSkipVerify ? "unverified"
        : access.trust != nullptr ? access.trust->fingerprint()
                                  : "system " + pki::TrustStore::systemFingerprint());
    // The key need not be hashed: it belongs to the certificate, so another key comes with another certificate.
    add(access.clientCertificate != nullptr ? access.clientCertificate->fingerprint() : "");
  }
  return pki::toHex(digest.finish());
}

}  // namespace sluice::kubernetes

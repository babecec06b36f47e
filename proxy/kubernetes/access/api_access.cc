#include "proxy/kubernetes/access/api_access.h"

#include <string_view>

#include "proxy/pki/digest.h"

namespace sluice::kubernetes {

std::string fingerprintOfAccess(const ApiAccess& access) {
  pki::Sha256 digest;
  // With its length before it, no part can pass for the end of another one.
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
    // The key belongs to the certificate, so another key comes with another certificate.
    add(access.clientCertificate != nullptr ? access.clientCertificate->fingerprint() : "");
  }
  return pki::toHex(digest.finish());
}

}  // namespace sluice::kubernetes

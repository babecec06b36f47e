// The rules by which certificates of clients are verified: authorities, revocation lists, and optionally the keys,
// certificates or names that are admitted. A value shared as const; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/pki/digest.h"
#include "proxy/pki/names/admitted_names.h"
#include "proxy/pki/peer_chain.h"
#include "proxy/pki/spki_pin.h"
#include "proxy/pki/trust_store.h"
#include "proxy/pki/validity.h"

namespace sluice::pki {

struct ClientRules {
  std::shared_ptr<const TrustStore> trust;  // never null
  // If keys or certificates are given, the client's own certificate must have one of the keys, or be one of the
  // certificates. If names are given, it must have one of them, too.
  std::vector<SpkiPin> keys;
  std::vector<Sha256Digest> certificates;  // of their DER
  std::vector<AdmittedName> names;

  /// Verifies the chain for the use of a client (extendedKeyUsage), as of `now`. Returns for how long the result holds.
  /// Errors name the broken rule ("expired", "revoked", "untrusted issuer") and no content of the certificate; they are
  /// those of clientRefused(). Costs a signature's verification for each certificate of the chain.
  base::Result<Validity> verify(const PeerChain& chain, base::WallTime now) const;
  /// Verifies the chain in the same way for a handshake. Returns X509_V_OK, or the code of OpenSSL by which it chooses
  /// its alert.
  int check(const PeerChain& chain, base::WallTime now) const;
};

/// Returns the error of a client whose certificate check() refuses with this code: a tls_certificate_error with
/// downstream's origin.
base::Error clientRefused(int code);

}  // namespace sluice::pki

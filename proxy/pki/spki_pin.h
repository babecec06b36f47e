// The digest of a public key, by which an administrator pins a key of a backend's chain (RFC 7469 section 2.4 defines
// the form).
#pragma once

#include <string_view>

#include "proxy/base/result.h"
#include "proxy/pki/digest.h"

struct x509_st;

namespace sluice::pki {

/// SHA-256 over the DER of the SubjectPublicKeyInfo.
using SpkiPin = Sha256Digest;

/// Parses base64 with its padding. Errors have config's origin and quote the text, because a pin is no secret.
base::Result<SpkiPin> parseSpkiPin(std::string_view base64);
SpkiPin spkiPinOf(const x509_st* certificate);

}  // namespace sluice::pki

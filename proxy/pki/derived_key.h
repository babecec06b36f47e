// Derives keys from a key: HKDF (RFC 5869) with SHA-256.
#pragma once

#include <string_view>

#include "proxy/base/result.h"
#include "proxy/base/secret.h"

namespace sluice::pki {

/// The size of a derived key in bytes.
inline constexpr std::size_t kDerivedKeyBytes = 32;

/// Returns the key for a purpose. It reveals nothing about `key`, which must not be guessable, or about the keys for
/// other purposes. The error has config's origin: OpenSSL has no HKDF.
base::Result<base::Secret> deriveKey(const base::Secret& key, std::string_view purpose);

}  // namespace sluice::pki

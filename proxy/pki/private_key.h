// A private key as a value: parsed once, then shared as const; its bytes are never exposed.
#pragma once

#include <memory>

#include "proxy/base/result.h"
#include "proxy/base/secret.h"
#include "proxy/pki/certificate.h"

struct evp_pkey_st;

namespace sluice::pki {

class PrivateKey {
 public:
  /// Parses PEM without a passphrase. Errors never quote it.
  static base::Result<PrivateKey> parse(const base::Secret& pem);
  PrivateKey(PrivateKey&&) noexcept;
  PrivateKey& operator=(PrivateKey&&) noexcept;
  ~PrivateKey();

  evp_pkey_st* get() const { return key_; }
  /// Returns true if the certificate's public key belongs to this key.
  bool matches(const CertificateChain& certificate) const;

 private:
  explicit PrivateKey(evp_pkey_st* key) : key_(key) {}
  evp_pkey_st* key_;
};

}  // namespace sluice::pki

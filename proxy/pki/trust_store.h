// The authorities that a backend's certificate is verified against, as a value shared as const.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/result.h"

struct x509_store_st;

namespace sluice::pki {

class TrustStore {
 public:
  /// One or more certificates in PEM (`ca.crt`). Errors are config's.
  static base::Result<TrustStore> parse(std::string_view pem);
  /// The system's authorities (Debian: ca-certificates), or OpenSSL's SSL_CERT_FILE and SSL_CERT_DIR.
  static base::Result<TrustStore> system();
  TrustStore(TrustStore&&) noexcept;
  TrustStore& operator=(TrustStore&&) noexcept;
  ~TrustStore();

  x509_store_st* get() const { return store_; }
  /// SHA-256 over what it holds, in hex; "system" for the system's.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  TrustStore(x509_store_st* store, std::string fingerprint) : store_(store), fingerprint_(std::move(fingerprint)) {}
  x509_store_st* store_;
  std::string fingerprint_;
};

}  // namespace sluice::pki

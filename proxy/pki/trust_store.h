// The authorities that a peer's certificate is verified against, with optional revocation lists. A value shared as
// const.
//
// With lists, a peer is refused if its own certificate is revoked, or if no list of its issuer is valid now:
// verification fails closed. An authority above it is checked in the same way if a list of that authority's issuer is
// given, and not at all if none is, so that a list of one issuing authority can be used without one of its root.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/pki/pem.h"

struct x509_store_st;

namespace sluice::pki {

class TrustStore {
 public:
  /// Parses one or more certificates in PEM (`ca.crt`), and certificate revocation lists if `crlPem` is not empty
  /// (`crl.pem`). An expired list is no error here, but refuses every peer whose issuer it covers. Errors have
  /// config's origin.
  static base::Result<TrustStore> parse(std::string_view caPem, std::string_view crlPem = "");
  /// Loads the system's authorities (Debian: ca-certificates), or OpenSSL's SSL_CERT_FILE and SSL_CERT_DIR.
  static base::Result<TrustStore> system();
  /// Returns the fingerprint that system() would have now, from the metadata of its files.
  static std::string systemFingerprint();
  TrustStore(TrustStore&&) noexcept;
  TrustStore& operator=(TrustStore&&) noexcept;
  ~TrustStore();

  x509_store_st* get() const { return store_; }
  /// Returns SHA-256 over the contents, in hex; for the system's authorities, over the metadata of their files.
  const std::string& fingerprint() const { return fingerprint_; }
  /// Returns when the first of its lists expires that has not expired at `now`: a verification that was good then is
  /// no longer valid after that. The last representable time if there is none.
  base::WallTime listsExpire(base::WallTime now = base::WallTime::min()) const;

 private:
  TrustStore(x509_store_st* store, std::string fingerprint) : store_(store), fingerprint_(std::move(fingerprint)) {}
  base::Status add(const std::vector<CrlPointer>& lists);

  x509_store_st* store_;
  std::string fingerprint_;
  std::vector<base::WallTime> expiries_;  // of its lists, the first one first
};

}  // namespace sluice::pki

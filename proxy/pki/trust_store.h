// The authorities that a backend's certificate is verified against, and the revocation lists that they may come with. A
// value shared as const.
//
// With lists, a peer is refused if its own certificate is revoked, or if there is no list of its issuer that is valid
// now: it fails closed. The authorities above it are held to the same where a list of their issuer is given; where none
// is, they are not looked up, so that a list of one issuing authority can be used without one of its root.
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
  /// One or more certificates in PEM (`ca.crt`), and certificate revocation lists if `crlPem` is not empty (`crl.pem`).
  /// A list that has expired is no error here, but refuses every peer that it would be about. Errors are config's.
  static base::Result<TrustStore> parse(std::string_view caPem, std::string_view crlPem = "");
  /// The system's authorities (Debian: ca-certificates), or OpenSSL's SSL_CERT_FILE and SSL_CERT_DIR.
  static base::Result<TrustStore> system();
  /// What the fingerprint of system() would be now, by what its files look like.
  static std::string systemFingerprint();
  TrustStore(TrustStore&&) noexcept;
  TrustStore& operator=(TrustStore&&) noexcept;
  ~TrustStore();

  x509_store_st* get() const { return store_; }
  /// SHA-256 over what it holds, in hex; of the system's, what its files look like.
  const std::string& fingerprint() const { return fingerprint_; }
  /// When the first of its lists expires: what was verified before does not count after that. The last of all times
  /// without lists.
  base::WallTime listsExpire() const { return listsExpire_; }

 private:
  TrustStore(x509_store_st* store, std::string fingerprint) : store_(store), fingerprint_(std::move(fingerprint)) {}
  base::Status add(const std::vector<CrlPointer>& lists);

  x509_store_st* store_;
  std::string fingerprint_;
  base::WallTime listsExpire_ = base::WallTime::max();
};

}  // namespace sluice::pki

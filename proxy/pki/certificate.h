// A certificate and the intermediates behind it, as a value: parsed once, then shared as const by all workers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"

struct x509_st;

namespace sluice::pki {

class CertificateChain {
 public:
  /// Parses PEM, leaf first (kubernetes.io/tls `tls.crt`). Errors have config's origin and name the block and its
  /// fault.
  static base::Result<CertificateChain> parse(std::string_view pem);
  CertificateChain(CertificateChain&&) noexcept;
  CertificateChain& operator=(CertificateChain&&) noexcept;
  ~CertificateChain();

  x509_st* leaf() const;
  /// Returns the certificates behind the leaf, in the order of the file.
  const std::vector<x509_st*>& intermediates() const;
  /// Returns the DNS names of the leaf's subjectAltName in lower case, never its CN.
  const std::vector<std::string>& dnsNames() const;
  base::WallTime notAfter() const;
  /// Returns SHA-256 over the DER of the whole chain, in hex.
  const std::string& fingerprint() const;

 private:
  struct ParsedChain;
  explicit CertificateChain(std::unique_ptr<ParsedChain> chain);
  std::unique_ptr<ParsedChain> chain_;
};

}  // namespace sluice::pki

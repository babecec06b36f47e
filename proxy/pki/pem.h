// The blocks of a PEM file (RFC 7468), decoded but not yet understood. Values, on any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/secret.h"

struct X509_crl_st;
struct x509_st;

namespace sluice::pki {

/// A Kubernetes Secret or ConfigMap holds 1 MiB at most; a system's bundle of authorities a quarter of that.
inline constexpr std::size_t kMaxPemBytes = std::size_t{4} * 1024 * 1024;

struct PemBlock {
  std::string label;       // "CERTIFICATE"
  bool encrypted = false;  // by a passphrase, in any of the ways to say so
  base::Secret der;
};

/// All blocks in the order of the file; text between them is skipped. Errors are config's and count blocks from 1.
base::Result<std::vector<PemBlock>> readPem(std::string_view pem);

struct X509Free {
  void operator()(x509_st* certificate) const;
};
using X509Pointer = std::unique_ptr<x509_st, X509Free>;

/// A file of nothing but certificates, at least one. Errors are config's: "block 2: a PRIVATE KEY, not a certificate".
base::Result<std::vector<X509Pointer>> readCertificates(std::string_view pem);

struct CrlFree {
  void operator()(X509_crl_st* list) const;
};
using CrlPointer = std::unique_ptr<X509_crl_st, CrlFree>;

/// A file of nothing but certificate revocation lists (RFC 5280 section 5), at least one. Errors as above.
base::Result<std::vector<CrlPointer>> readRevocationLists(std::string_view pem);

/// SHA-256 over the DER of the certificates in their order, and of the lists behind them, in hex.
std::string fingerprintOf(const std::vector<X509Pointer>& certificates, const std::vector<CrlPointer>& lists = {});

}  // namespace sluice::pki

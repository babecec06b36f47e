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

/// The largest PEM file that is read. A Kubernetes Secret or ConfigMap holds 1 MiB at most; a system's bundle of
/// authorities a quarter of that.
inline constexpr std::size_t kMaxPemBytes = std::size_t{4} * 1024 * 1024;

struct PemBlock {
  std::string label;       // "CERTIFICATE"
  bool encrypted = false;  // by a passphrase, however it is marked
  base::Secret der;
};

/// Returns all blocks in the order of the file and skips the text between them. Errors have config's origin and count
/// blocks from 1.
base::Result<std::vector<PemBlock>> readPem(std::string_view pem);

struct X509Free {
  void operator()(x509_st* certificate) const;
};
using X509Pointer = std::unique_ptr<x509_st, X509Free>;

/// Reads a file that holds only certificates, at least one. Errors have config's origin: "block 2: a PRIVATE KEY, not
/// a certificate".
base::Result<std::vector<X509Pointer>> readCertificates(std::string_view pem);

struct CrlFree {
  void operator()(X509_crl_st* list) const;
};
using CrlPointer = std::unique_ptr<X509_crl_st, CrlFree>;

/// Reads a file that holds only certificate revocation lists (RFC 5280 section 5), at least one. Errors are like those
/// of readCertificates().
base::Result<std::vector<CrlPointer>> readRevocationLists(std::string_view pem);

/// Returns SHA-256 over the DER of the certificates in their order and then of the lists, in hex.
std::string fingerprintOf(const std::vector<X509Pointer>& certificates, const std::vector<CrlPointer>& lists = {});

}  // namespace sluice::pki

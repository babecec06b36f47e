// Makes certificates for tests when they are needed, so that no file in the tree expires. Values in PEM, on any thread.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/secret.h"

namespace sluice::test {

enum class KeyType { kEcP256, kRsa2048, kEd25519, kRsa1024 /* too weak */ };

struct CertificateSpec {
  std::string commonName = "test";       // empty: no subject
  std::vector<std::string> dnsNames;     // taken as they are, even with a NUL or a capital letter
  std::vector<std::string> ipAddresses;  // "127.0.0.1"
  std::vector<std::string> uris;
  /// start of validity, relative to now
  std::chrono::seconds notBefore = std::chrono::hours(-1);
  std::chrono::seconds notAfter = std::chrono::hours(24);
  /// OpenSSL's spelling, such as "serverAuth,clientAuth"; without the extension if empty
  std::string extendedKeyUsage;
  bool authority = false;
  /// for an authority, how many others may be below it; negative: any number
  int pathLength = -1;
  KeyType keyType = KeyType::kEcP256;
  /// Further extensions in OpenSSL's spelling: {"nameConstraints", "permitted;DNS:example.com"}.
  std::vector<std::pair<std::string, std::string>> extensions = {};
  std::vector<std::string> emails = {};  // of the subjectAltName
};

/// A certificate with its private key, each a PEM block.
struct CertifiedKey {
  std::string certificate;
  std::string key;
  base::Secret secretKey() const { return base::Secret(key); }
};

CertifiedKey selfSigned(const CertificateSpec& spec);
CertifiedKey issue(const CertifiedKey& issuer, const CertificateSpec& spec);

/// Returns the chain that a server presents if its peers do not know its issuer: the leaf followed by the issuer's
/// certificate.
CertifiedKey withChain(const CertifiedKey& leaf, const CertifiedKey& issuer);

/// Returns a new root; every call makes another key.
CertifiedKey makeAuthority(const std::string& commonName = "Test Authority");
/// Returns a server's certificate for one DNS name, with serverAuth, as most tests need it.
CertifiedKey issueServer(const CertifiedKey& issuer, const std::string& dnsName);
CertifiedKey issueClient(const CertifiedKey& issuer, const std::string& commonName);
/// Returns a client's certificate whose only name is a URI, such as a SPIFFE ID; its subject is empty.
CertifiedKey issueWorkload(const CertifiedKey& issuer, const std::string& uri);
/// Returns an authority below the issuer. A client of it shows withChain(client, intermediate).
CertifiedKey makeIntermediate(const CertifiedKey& issuer, const std::string& commonName = "Test Intermediate");

/// Returns the issuer's list of revoked certificates (PEM), as of an hour ago. `nextUpdate` is relative to now.
std::string revocationList(const CertifiedKey& issuer, const std::vector<CertifiedKey>& revoked,
                           std::chrono::seconds nextUpdate = std::chrono::hours(24));
/// Returns the entries tls.crt and tls.key of a Secret's stringData, a line of YAML each.
std::string stringDataOf(const CertifiedKey& identity);

/// Returns Base64 of the SHA-256 of the certificate's SubjectPublicKeyInfo.
std::string spkiPin(const CertifiedKey& identity);

/// Returns the SHA-256 of the certificate's DER, in hexadecimal digits.
std::string certificateDigest(const CertifiedKey& identity);

/// Returns the key under a passphrase (PKCS #8, ENCRYPTED PRIVATE KEY).
std::string encryptKey(const CertifiedKey& identity, const std::string& passphrase);
/// Returns the key in its traditional form (RSA PRIVATE KEY, EC PRIVATE KEY).
std::string traditionalKey(const CertifiedKey& identity);

}  // namespace sluice::test

// Certificates for tests, made when they are needed: no file in the tree that expires. Values in PEM, on any thread.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/secret.h"

namespace sluice::test {

enum class KeyType { kEcP256, kRsa2048, kEd25519 };

struct CertificateSpec {
  std::string commonName = "test";
  std::vector<std::string> dnsNames;     // as they are, a NUL or a capital letter too
  std::vector<std::string> ipAddresses;  // "127.0.0.1"
  std::vector<std::string> uris;
  /// Relative to now.
  std::chrono::seconds notBefore = std::chrono::hours(-1);
  std::chrono::seconds notAfter = std::chrono::hours(24);
  /// In OpenSSL's spelling, "serverAuth,clientAuth"; empty: no such extension.
  std::string extendedKeyUsage;
  bool authority = false;
  /// Of an authority: how many others may stand below it; negative: any number.
  int pathLength = -1;
  KeyType keyType = KeyType::kEcP256;
  /// Others, in OpenSSL's spelling: {"nameConstraints", "permitted;DNS:example.com"}.
  std::vector<std::pair<std::string, std::string>> extensions = {};
};

/// A certificate with its private key, each a PEM block.
struct Identity {
  std::string certificate;
  std::string key;
  base::Secret secretKey() const { return base::Secret(key); }
};

Identity selfSigned(const CertificateSpec& spec);
Identity issue(const Identity& issuer, const CertificateSpec& spec);

/// What a server presents whose issuer its peers do not know: the leaf, and the issuer's certificate behind it.
Identity withChain(const Identity& leaf, const Identity& issuer);

/// A root that issues; every call makes another key.
Identity makeAuthority(const std::string& commonName = "Test Authority");
/// What most tests of a server want: issued for one DNS name, for serverAuth.
Identity issueServer(const Identity& issuer, const std::string& dnsName);
Identity issueClient(const Identity& issuer, const std::string& commonName);

/// The issuer's list of revoked certificates (PEM), as of an hour ago. `nextUpdate` is relative to now.
std::string revocationList(const Identity& issuer, const std::vector<Identity>& revoked,
                           std::chrono::seconds nextUpdate = std::chrono::hours(24));
/// Base64 of the SHA-256 of the certificate's SubjectPublicKeyInfo.
std::string spkiPin(const Identity& identity);

/// The same key under a passphrase (PKCS #8, ENCRYPTED PRIVATE KEY).
std::string encryptKey(const Identity& identity, const std::string& passphrase);
/// The same key in its traditional form (RSA PRIVATE KEY, EC PRIVATE KEY).
std::string traditionalKey(const Identity& identity);

}  // namespace sluice::test

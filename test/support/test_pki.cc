#include "test/support/test_pki.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "proxy/base/hex.h"

namespace sluice::test {
namespace {

using BioPointer = std::unique_ptr<BIO, decltype(&BIO_free)>;
using KeyPointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Pointer = std::unique_ptr<X509, decltype(&X509_free)>;

// Aborts: a test cannot go on without the objects that it asked for.
void require(bool ok) {
  if (ok) return;
  ERR_print_errors_fp(stderr);
  std::abort();
}

BioPointer readerOf(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

BioPointer writer() { return {BIO_new(BIO_s_mem()), &BIO_free}; }

std::string bioText(const BioPointer& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

KeyPointer parseKey(const std::string& pem) {
  KeyPointer key(PEM_read_bio_PrivateKey(readerOf(pem).get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  return key;
}

X509Pointer parseCertificate(const std::string& pem) {
  return {PEM_read_bio_X509(readerOf(pem).get(), nullptr, nullptr, nullptr), &X509_free};
}

KeyPointer makeKey(KeyType type) {
  EVP_PKEY* key = nullptr;
  switch (type) {
    case KeyType::kEcP256:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
      break;
    case KeyType::kRsa2048:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048});
      break;
    case KeyType::kRsa1024:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{1024});
      break;
    case KeyType::kEd25519:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
      break;
  }
  require(key != nullptr);
  return {key, &EVP_PKEY_free};
}

void addStringName(GENERAL_NAMES* names, int type, const std::string& text) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_IA5STRING* value = ASN1_IA5STRING_new();
  ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
  GENERAL_NAME_set0_value(name, type, value);
  sk_GENERAL_NAME_push(names, name);
}

void addIpName(GENERAL_NAMES* names, const std::string& text) {
  ASN1_OCTET_STRING* value = a2i_IPADDRESS(text.c_str());
  require(value != nullptr);
  GENERAL_NAME* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, GEN_IPADD, value);
  sk_GENERAL_NAME_push(names, name);
}

void addSubjectAltNames(X509* certificate, const CertificateSpec& spec) {
  GENERAL_NAMES* names = sk_GENERAL_NAME_new_null();
  for (const std::string& text : spec.dnsNames) addStringName(names, GEN_DNS, text);
  for (const std::string& text : spec.uris) addStringName(names, GEN_URI, text);
  for (const std::string& text : spec.emails) addStringName(names, GEN_EMAIL, text);
  for (const std::string& text : spec.ipAddresses) addIpName(names, text);
  if (sk_GENERAL_NAME_num(names) > 0) {
    require(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1);
  }
  GENERAL_NAMES_free(names);
}

void addExtension(X509* certificate, X509* issuer, const std::string& name, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_nconf(nullptr, &context, name.c_str(), value.c_str());
  require(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void addExtensions(X509* certificate, X509* issuer, const CertificateSpec& spec) {
  addExtension(certificate, issuer, "subjectKeyIdentifier", "hash");
  if (issuer != certificate) addExtension(certificate, issuer, "authorityKeyIdentifier", "keyid");
  std::string constraints = spec.authority ? "critical,CA:TRUE" : "critical,CA:FALSE";
  if (spec.pathLength >= 0) constraints += ",pathlen:" + std::to_string(spec.pathLength);
  addExtension(certificate, issuer, "basicConstraints", constraints);
  if (spec.authority) addExtension(certificate, issuer, "keyUsage", "critical,keyCertSign,cRLSign");
  if (!spec.extendedKeyUsage.empty()) addExtension(certificate, issuer, "extendedKeyUsage", spec.extendedKeyUsage);
  for (const auto& [name, value] : spec.extensions) addExtension(certificate, issuer, name, value);
  addSubjectAltNames(certificate, spec);
}

void setSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  require(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x01);
  BIGNUM* number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
}

CertifiedKey makeIdentity(const CertificateSpec& spec, X509* issuer, EVP_PKEY* issuerKey) {
  const KeyPointer key = makeKey(spec.keyType);
  const X509Pointer certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  setSerial(certificate.get());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), static_cast<long>(spec.notBefore.count()));
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), static_cast<long>(spec.notAfter.count()));
  if (!spec.commonName.empty()) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(spec.commonName.c_str()), -1, -1, 0);
  }
  X509_set_pubkey(certificate.get(), key.get());
  X509* const signer = issuer == nullptr ? certificate.get() : issuer;
  EVP_PKEY* const signerKey = issuerKey == nullptr ? key.get() : issuerKey;
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  addExtensions(certificate.get(), signer, spec);
  const bool hashes = EVP_PKEY_get_base_id(signerKey) != EVP_PKEY_ED25519;
  require(X509_sign(certificate.get(), signerKey, hashes ? EVP_sha256() : nullptr) > 0);

  const BioPointer certificatePem = writer();
  const BioPointer keyPem = writer();
  require(PEM_write_bio_X509(certificatePem.get(), certificate.get()) == 1);
  require(PEM_write_bio_PKCS8PrivateKey(keyPem.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return {bioText(certificatePem), bioText(keyPem)};
}

}  // namespace

CertifiedKey selfSigned(const CertificateSpec& spec) { return makeIdentity(spec, nullptr, nullptr); }

CertifiedKey issue(const CertifiedKey& issuer, const CertificateSpec& spec) {
  const X509Pointer certificate = parseCertificate(issuer.certificate);
  const KeyPointer key = parseKey(issuer.key);
  require(certificate != nullptr && key != nullptr);
  return makeIdentity(spec, certificate.get(), key.get());
}

CertifiedKey withChain(const CertifiedKey& leaf, const CertifiedKey& issuer) {
  return {leaf.certificate + issuer.certificate, leaf.key};
}

CertifiedKey makeAuthority(const std::string& commonName) {
  CertificateSpec spec;
  spec.commonName = commonName;
  spec.authority = true;
  return selfSigned(spec);
}

CertifiedKey issueServer(const CertifiedKey& issuer, const std::string& dnsName) {
  CertificateSpec spec;
  spec.commonName = "server";
  spec.dnsNames = {dnsName};
  spec.extendedKeyUsage = "serverAuth";
  return issue(issuer, spec);
}

CertifiedKey issueClient(const CertifiedKey& issuer, const std::string& commonName) {
  CertificateSpec spec;
  spec.commonName = commonName;
  spec.extendedKeyUsage = "clientAuth";
  return issue(issuer, spec);
}

CertifiedKey issueWorkload(const CertifiedKey& issuer, const std::string& uri) {
  CertificateSpec spec;
  spec.commonName = "";
  spec.uris = {uri};
  spec.extendedKeyUsage = "clientAuth";
  return issue(issuer, spec);
}

CertifiedKey makeIntermediate(const CertifiedKey& issuer, const std::string& commonName) {
  CertificateSpec spec;
  spec.commonName = commonName;
  spec.authority = true;
  return issue(issuer, spec);
}

std::string revocationList(const CertifiedKey& issuer, const std::vector<CertifiedKey>& revoked,
                           std::chrono::seconds nextUpdate) {
  const X509Pointer authority = parseCertificate(issuer.certificate);
  const KeyPointer key = parseKey(issuer.key);
  const std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> list(X509_CRL_new(), &X509_CRL_free);
  const std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> time(X509_gmtime_adj(nullptr, -3600), &ASN1_TIME_free);
  X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(authority.get()));
  X509_CRL_set1_lastUpdate(list.get(), time.get());
  for (const CertifiedKey& identity : revoked) {
    X509_REVOKED* entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(parseCertificate(identity.certificate).get()));
    X509_REVOKED_set_revocationDate(entry, time.get());
    require(X509_CRL_add0_revoked(list.get(), entry) == 1);
  }
  X509_gmtime_adj(time.get(), static_cast<long>(nextUpdate.count()));
  X509_CRL_set1_nextUpdate(list.get(), time.get());
  require(X509_CRL_sort(list.get()) == 1 && X509_CRL_sign(list.get(), key.get(), EVP_sha256()) > 0);
  const BioPointer bio = writer();
  require(PEM_write_bio_X509_CRL(bio.get(), list.get()) == 1);
  return bioText(bio);
}

std::string stringDataOf(const CertifiedKey& identity) {
  const auto entry = [](const std::string& key, const std::string& value) {
    std::string line = "  " + key + ": \"";
    for (const char each : value) line += each == '\n' ? std::string("\\n") : std::string(1, each);
    return line + "\"\n";
  };
  return entry("tls.crt", identity.certificate) + entry("tls.key", identity.key);
}

std::string spkiPin(const CertifiedKey& identity) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(parseKey(identity.key).get(), &der);
  require(size > 0);
  std::array<unsigned char, 32> digest{};
  require(EVP_Digest(der, static_cast<std::size_t>(size), digest.data(), nullptr, EVP_sha256(), nullptr) == 1);
  OPENSSL_free(der);
  std::array<unsigned char, 45> text{};
  EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(digest.size()));
  return reinterpret_cast<const char*>(text.data());
}

std::string certificateDigest(const CertifiedKey& identity) {
  std::array<unsigned char, 32> digest{};
  require(X509_digest(parseCertificate(identity.certificate).get(), EVP_sha256(), digest.data(), nullptr) == 1);
  std::string digits;
  for (const unsigned char byte : digest) digits += base::hexOf(byte);
  return digits;
}

std::string encryptKey(const CertifiedKey& identity, const std::string& passphrase) {
  const BioPointer bio = writer();
  require(PEM_write_bio_PKCS8PrivateKey(bio.get(), parseKey(identity.key).get(), EVP_aes_256_cbc(), passphrase.data(),
                                        static_cast<int>(passphrase.size()), nullptr, nullptr) == 1);
  return bioText(bio);
}

std::string traditionalKey(const CertifiedKey& identity) {
  const BioPointer bio = writer();
  require(PEM_write_bio_PrivateKey_traditional(bio.get(), parseKey(identity.key).get(), nullptr, nullptr, 0, nullptr,
                                               nullptr) == 1);
  return bioText(bio);
}

}  // namespace sluice::test

#include "proxy/pki/private_key.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <utility>

#include "proxy/pki/openssl_error.h"
#include "proxy/pki/pem.h"

namespace sluice::pki {

base::Result<PrivateKey> PrivateKey::parse(const base::Secret& pem) {
  auto blocks = readPem(pem.reveal());
  if (!blocks) return std::move(blocks).error();
  for (const PemBlock& block : *blocks) {
    // EC PARAMETERS may precede the key, and the same file may contain a certificate.
    if (!block.label.ends_with("PRIVATE KEY")) continue;
    if (block.encrypted) return base::Error::config("the private key is encrypted: a passphrase is not supported");
    const std::string_view der = block.der.reveal();
    auto position = reinterpret_cast<const unsigned char*>(der.data());
    EVP_PKEY* key = d2i_AutoPrivateKey(nullptr, &position, static_cast<long>(der.size()));
    if (key == nullptr) return base::Error::config("not a private key: " + takeOpensslError());
    // The decoder queues an error for each form that it tried before the right one.
    ERR_clear_error();
    return PrivateKey(key);
  }
  return base::Error::config("no private key in it");
}

PrivateKey::PrivateKey(PrivateKey&& other) noexcept : key_(std::exchange(other.key_, nullptr)) {}

PrivateKey& PrivateKey::operator=(PrivateKey&& other) noexcept {
  std::swap(key_, other.key_);
  return *this;
}

PrivateKey::~PrivateKey() { EVP_PKEY_free(key_); }

bool PrivateKey::matches(const CertificateChain& certificate) const {
  const bool same = X509_check_private_key(certificate.leaf(), key_) == 1;
  ERR_clear_error();
  return same;
}

}  // namespace sluice::pki

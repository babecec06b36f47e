#include "proxy/pki/trust_store.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <cstdlib>
#include <utility>

#include "proxy/pki/openssl_error.h"
#include "proxy/pki/pem.h"

namespace sluice::pki {
namespace {

constexpr const char* kDebianBundle = "/etc/ssl/certs/ca-certificates.crt";

// Read whole and now: OpenSSL's default, a folder of hashed names, would read files in the middle of a handshake.
bool loadSystem(X509_STORE* store) {
  const bool named = secure_getenv(X509_get_default_cert_file_env()) != nullptr ||
                     secure_getenv(X509_get_default_cert_dir_env()) != nullptr;
  if (!named && X509_STORE_load_file(store, kDebianBundle) == 1) return true;
  ERR_clear_error();
  return X509_STORE_set_default_paths(store) == 1;
}

}  // namespace

base::Result<TrustStore> TrustStore::parse(std::string_view pem) {
  auto certificates = readCertificates(pem);
  if (!certificates) return std::move(certificates).error();
  TrustStore trust(X509_STORE_new(), fingerprintOf(*certificates));
  for (const X509Pointer& certificate : *certificates) {
    if (X509_STORE_add_cert(trust.get(), certificate.get()) != 1) return base::Error::config(takeOpensslError());
  }
  // What somebody names here is trusted as it stands: an intermediate or a single pinned certificate too, without its
  // root.
  X509_STORE_set_flags(trust.get(), X509_V_FLAG_PARTIAL_CHAIN);
  return trust;
}

base::Result<TrustStore> TrustStore::system() {
  TrustStore trust(X509_STORE_new(), "system");
  if (!loadSystem(trust.get())) return base::Error::config("the system's authorities: " + takeOpensslError());
  ERR_clear_error();
  return trust;
}

TrustStore::TrustStore(TrustStore&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)), fingerprint_(std::move(other.fingerprint_)) {}

TrustStore& TrustStore::operator=(TrustStore&& other) noexcept {
  std::swap(store_, other.store_);
  std::swap(fingerprint_, other.fingerprint_);
  return *this;
}

TrustStore::~TrustStore() { X509_STORE_free(store_); }

}  // namespace sluice::pki

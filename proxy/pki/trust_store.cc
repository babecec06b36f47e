#include "proxy/pki/trust_store.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "proxy/pki/asn1_time.h"
#include "proxy/pki/openssl_error.h"
#include "proxy/pki/pem.h"

namespace sluice::pki {
namespace {

constexpr const char* kDebianBundle = "/etc/ssl/certs/ca-certificates.crt";

const char* namedFile() { return secure_getenv(X509_get_default_cert_file_env()); }
const char* namedFolder() { return secure_getenv(X509_get_default_cert_dir_env()); }

/// Returns a text that changes whenever the metadata of the file changes; for a folder, whenever a file is added or
/// removed.
std::string stateOf(const char* path) {
  struct stat status = {};
  if (stat(path, &status) != 0) return "none;";
  return std::to_string(status.st_dev) + "." + std::to_string(status.st_ino) + "." + std::to_string(status.st_size) +
         "." + std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + ";";
}

// Reads all files at once: OpenSSL's default, a folder of hashed names, would read files in the middle of a handshake.
bool loadSystem(X509_STORE* store) {
  const bool named = namedFile() != nullptr || namedFolder() != nullptr;
  if (!named && X509_STORE_load_file(store, kDebianBundle) == 1) return true;
  ERR_clear_error();
  return X509_STORE_set_default_paths(store) == 1;
}

// A callback for X509_STORE_set_verify_cb that accepts authorities without a revocation list.
int excuseAuthoritiesWithoutList(int ok, X509_STORE_CTX* context) {
  const bool excused =
      X509_STORE_CTX_get_error(context) == X509_V_ERR_UNABLE_TO_GET_CRL && X509_STORE_CTX_get_error_depth(context) > 0;
  if (ok == 1 || !excused) return ok;
  X509_STORE_CTX_set_error(context, X509_V_OK);
  return 1;
}

}  // namespace

base::Result<TrustStore> TrustStore::parse(std::string_view caPem, std::string_view crlPem) {
  auto certificates = readCertificates(caPem);
  if (!certificates) return std::move(certificates).error();
  std::vector<CrlPointer> lists;
  if (!crlPem.empty()) {
    auto read = readRevocationLists(crlPem);
    if (!read) return base::Error::config("revocation lists: " + read.error().detail);
    lists = std::move(read).value();
  }
  TrustStore trust(X509_STORE_new(), fingerprintOf(*certificates, lists));
  for (const X509Pointer& certificate : *certificates) {
    if (X509_STORE_add_cert(trust.get(), certificate.get()) != 1) return base::Error::config(takeOpensslError());
  }
  // Every certificate given here is trusted by itself: an intermediate or a single pinned certificate too, without its
  // root.
  X509_STORE_set_flags(trust.get(), X509_V_FLAG_PARTIAL_CHAIN);
  if (!lists.empty()) {
    if (auto status = trust.add(lists); !status) return std::move(status).error();
  }
  return trust;
}

base::Status TrustStore::add(const std::vector<CrlPointer>& lists) {
  for (const CrlPointer& list : lists) {
    if (X509_STORE_add_crl(store_, list.get()) != 1) return base::Error::config(takeOpensslError());
    const ASN1_TIME* next = X509_CRL_get0_nextUpdate(list.get());
    if (next != nullptr) expiries_.push_back(toWallTime(next));
  }
  std::sort(expiries_.begin(), expiries_.end());
  X509_STORE_set_flags(store_, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  X509_STORE_set_verify_cb(store_, excuseAuthoritiesWithoutList);
  return base::Done{};
}

base::Result<TrustStore> TrustStore::system() {
  // The state is taken before the files are read, so that a change during the read changes the state again.
  TrustStore trust(X509_STORE_new(), systemFingerprint());
  if (!loadSystem(trust.get())) return base::Error::config("the system's authorities: " + takeOpensslError());
  ERR_clear_error();
  return trust;
}

std::string TrustStore::systemFingerprint() {
  const char* file = namedFile();
  const char* folder = namedFolder();
  return "system " + stateOf(kDebianBundle) + stateOf(file != nullptr ? file : X509_get_default_cert_file()) +
         stateOf(folder != nullptr ? folder : X509_get_default_cert_dir());
}

base::WallTime TrustStore::listsExpire(base::WallTime now) const {
  const auto next = std::upper_bound(expiries_.begin(), expiries_.end(), now);
  return next == expiries_.end() ? base::WallTime::max() : *next;
}

TrustStore::TrustStore(TrustStore&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)),
      fingerprint_(std::move(other.fingerprint_)),
      expiries_(std::move(other.expiries_)) {}

TrustStore& TrustStore::operator=(TrustStore&& other) noexcept {
  std::swap(store_, other.store_);
  std::swap(fingerprint_, other.fingerprint_);
  std::swap(expiries_, other.expiries_);
  return *this;
}

TrustStore::~TrustStore() { X509_STORE_free(store_); }

}  // namespace sluice::pki

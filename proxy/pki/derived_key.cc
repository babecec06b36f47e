#include "proxy/pki/derived_key.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>
#include <string>

namespace sluice::pki {
namespace {

OSSL_PARAM octets(const char* name, std::string_view bytes) {
  // OpenSSL does not write through this pointer.
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(bytes.data()), bytes.size());
}

}  // namespace

base::Result<base::Secret> deriveKey(const base::Secret& key, std::string_view purpose) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      octets(OSSL_KDF_PARAM_KEY, key.reveal()),
      octets(OSSL_KDF_PARAM_INFO, purpose),
      OSSL_PARAM_construct_end(),
  };
  std::string derived(kDerivedKeyBytes, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(derived.data());
  if (context == nullptr || EVP_KDF_derive(context.get(), bytes, derived.size(), parameters) != 1) {
    return base::Error::config("this OpenSSL derives no keys");
  }
  return base::Secret(std::move(derived));
}

}  // namespace sluice::pki

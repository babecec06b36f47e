#include "proxy/pki/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "proxy/base/hex.h"

namespace sluice::pki {

void Sha256::FreeDigestContext::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }

Sha256& Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  return *this;
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
  return digest;
}

Sha256Digest sha256(std::string_view bytes) { return Sha256().add(bytes).finish(); }

Sha256Digest hmacSha256(const base::Secret& key, std::string_view bytes) {
  Sha256Digest digest{};
  const std::string_view secret = key.reveal();
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(), nullptr);
  return digest;
}

Sha1Digest sha1(std::string_view bytes) {
  Sha1Digest digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  return digest;
}

std::string_view asBytes(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string toHex(const Sha256Digest& digest) {
  std::string hex;
  for (const unsigned char byte : digest) hex += base::hexOf(byte);
  return hex;
}

}  // namespace sluice::pki

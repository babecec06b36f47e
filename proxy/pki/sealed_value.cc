#include "proxy/pki/sealed_value.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "proxy/base/base64.h"
#include "proxy/pki/digest.h"

namespace sluice::pki {
namespace {

struct FreeContext {
  void operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<evp_cipher_ctx_st, FreeContext>;

const unsigned char* asUnsigned(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* asUnsigned(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

/// The key of one value. The derivation gives a different key than any other use of the Secret's bytes.
class DerivedKey {
 public:
  DerivedKey(const base::Secret& key, std::string_view salt)
      : bytes_(hmacSha256(key, std::string("sluice sealed value 1\0", 22).append(salt))) {}
  ~DerivedKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }
  DerivedKey(const DerivedKey&) = delete;
  DerivedKey& operator=(const DerivedKey&) = delete;

  const unsigned char* data() const { return bytes_.data(); }

 private:
  Sha256Digest bytes_;
};

// Encodes as RFC 4648 section 5 defines it: another alphabet, and no padding.
std::string toBase64Url(std::string_view bytes) {
  std::string text = base::encodeBase64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

/// Returns nullopt for text that toBase64Url() does not produce.
std::optional<std::string> fromBase64Url(std::string_view text) {
  if (text.find_first_of("+/=\r\n") != std::string_view::npos) return std::nullopt;
  std::string padded(text);
  std::replace(padded.begin(), padded.end(), '-', '+');
  std::replace(padded.begin(), padded.end(), '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return base::decodeBase64(padded);
}

}  // namespace

void ValueSealer::FreeCipher::operator()(evp_cipher_st* cipher) const { EVP_CIPHER_free(cipher); }

ValueSealer::ValueSealer(base::Secret key, base::Secret previous)
    : key_(std::move(key)), previous_(std::move(previous)), cipher_(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr)) {
  assert(key_.reveal().size() >= kLeastKeyBytes);
}

ValueSealer::~ValueSealer() = default;

std::shared_ptr<const ValueSealer> ValueSealer::withRandomKey() {
  std::string key(kLeastKeyBytes, '\0');
  if (RAND_bytes(asUnsigned(key.data()), static_cast<int>(key.size())) != 1) return nullptr;
  auto sealer = std::make_shared<const ValueSealer>(base::Secret(key));
  OPENSSL_cleanse(key.data(), key.size());
  return sealer;
}

std::optional<std::string> ValueSealer::seal(std::string_view value, std::string_view scope) const {
  std::string bytes(kOverhead + value.size(), '\0');  // salt, nonce, the sealed value, tag
  unsigned char* const out = asUnsigned(bytes.data());
  if (RAND_bytes(out, kSaltSize + kNonceSize) != 1) return std::nullopt;
  const DerivedKey key(key_, std::string_view(bytes).substr(0, kSaltSize));
  const Context context(EVP_CIPHER_CTX_new());
  unsigned char* const sealed = out + kSaltSize + kNonceSize;
  int size = 0;
  const bool good =
      EVP_EncryptInit_ex2(context.get(), cipher_.get(), key.data(), out + kSaltSize, nullptr) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &size, asUnsigned(scope), static_cast<int>(scope.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), sealed, &size, asUnsigned(value), static_cast<int>(value.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), sealed + value.size(), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagSize, sealed + value.size()) == 1;
  if (!good) {
    ERR_clear_error();
    return std::nullopt;
  }
  return toBase64Url(bytes);
}

std::optional<ValueSealer::Opened> ValueSealer::open(std::string_view sealed, std::string_view scope) const {
  const std::optional<std::string> bytes = fromBase64Url(sealed);
  if (!bytes || bytes->size() < kOverhead) return std::nullopt;
  if (auto value = openWith(key_, *bytes, scope)) return Opened{*std::move(value), false};
  if (previous_.empty()) return std::nullopt;
  if (auto value = openWith(previous_, *bytes, scope)) return Opened{*std::move(value), true};
  return std::nullopt;
}

std::optional<std::string> ValueSealer::openWith(const base::Secret& key, std::string_view bytes,
                                                 std::string_view scope) const {
  const DerivedKey derived(key, bytes.substr(0, kSaltSize));
  const std::string_view sealed = bytes.substr(kSaltSize + kNonceSize, bytes.size() - kOverhead);
  std::array<unsigned char, kTagSize> tag{};
  std::copy_n(bytes.end() - kTagSize, kTagSize, tag.begin());
  const Context context(EVP_CIPHER_CTX_new());
  std::string value(sealed.size(), '\0');
  int size = 0;
  const bool good =
      EVP_DecryptInit_ex2(context.get(), cipher_.get(), derived.data(), asUnsigned(bytes) + kSaltSize, nullptr) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &size, asUnsigned(scope), static_cast<int>(scope.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), asUnsigned(value.data()), &size, asUnsigned(sealed),
                        static_cast<int>(sealed.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagSize, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), asUnsigned(value.data()) + value.size(), &size) == 1;
  if (good) return value;
  ERR_clear_error();
  return std::nullopt;
}

}  // namespace sluice::pki

// Small values that untrusted parties keep for the gateway: only the holder of the key can read, make or change them.
//
// AES-256-GCM (NIST SP 800-38D) under a separate key for each value, which HMAC-SHA-256 derives from the holder's key
// and from random bytes: the number of sealed values is so large that random nonces alone would not be safe.
// Immutable; any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/secret.h"

struct evp_cipher_st;

namespace sluice::pki {

class ValueSealer {
 public:
  static constexpr std::size_t kLeastKeyBytes = 32;

  /// Seals with `key`, and opens with `key` and, unless it is empty, with `previous`. Each has at least kLeastKeyBytes
  /// bytes, of any form.
  explicit ValueSealer(base::Secret key, base::Secret previous = {});
  ~ValueSealer();
  ValueSealer(const ValueSealer&) = delete;
  ValueSealer& operator=(const ValueSealer&) = delete;
  /// Makes a sealer with a random key. Returns nullptr if the system has no random bytes.
  static std::shared_ptr<const ValueSealer> withRandomKey();

  /// Returns base64url (RFC 4648 section 5) without padding, sealedSize(value.size()) characters. The value opens only
  /// for the same `scope`, which is not part of the text. Returns nullopt if OpenSSL refuses.
  std::optional<std::string> seal(std::string_view value, std::string_view scope) const;

  struct Opened {
    std::string value;
    bool byPrevious;  // the value should be sealed again
  };
  /// Opens a sealed value. Returns nullopt for any text that seal() has not made with one of the keys for that scope.
  std::optional<Opened> open(std::string_view sealed, std::string_view scope) const;

  static constexpr std::size_t sealedSize(std::size_t valueSize) { return ((valueSize + kOverhead) * 4 + 2) / 3; }

 private:
  static constexpr std::size_t kSaltSize = 12;  // the salt of the derived key
  static constexpr std::size_t kNonceSize = 12;
  static constexpr std::size_t kTagSize = 16;
  static constexpr std::size_t kOverhead = kSaltSize + kNonceSize + kTagSize;

  std::optional<std::string> openWith(const base::Secret& key, std::string_view bytes, std::string_view scope) const;

  struct FreeCipher {
    void operator()(evp_cipher_st* cipher) const;
  };
  const base::Secret key_;
  const base::Secret previous_;
  std::unique_ptr<evp_cipher_st, FreeCipher> cipher_;  // fetched once, because a lookup costs more than its use
};

}  // namespace sluice::pki

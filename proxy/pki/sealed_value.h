// Small values that strangers keep for us: nobody but the holder of the key can read them, make them or change them.
//
// AES-256-GCM (NIST SP 800-38D) under a key of its own for each value, which HMAC-SHA-256 derives from the holder's and
// from random bytes: so many values may be sealed that random nonces alone would not do. Never changes once made; any
// thread.
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

  /// Seals with `key`, opens with `previous` too unless it is empty. Either has at least kLeastKeyBytes, of any form.
  explicit ValueSealer(base::Secret key, base::Secret previous = {});
  ~ValueSealer();
  ValueSealer(const ValueSealer&) = delete;
  ValueSealer& operator=(const ValueSealer&) = delete;
  /// With a key that nobody has; nullptr if the system has no random bytes.
  static std::shared_ptr<const ValueSealer> withRandomKey();

  /// base64url (RFC 4648 section 5) without padding, sealedSize(value.size()) characters; what it opens for is `scope`,
  /// which is not in it. nullopt if OpenSSL refuses.
  std::optional<std::string> seal(std::string_view value, std::string_view scope) const;

  struct Opened {
    std::string value;
    bool byPrevious;  // worth being sealed anew
  };
  /// nullopt for everything that seal() has not made with one of the keys for that scope.
  std::optional<Opened> open(std::string_view sealed, std::string_view scope) const;

  static constexpr std::size_t sealedSize(std::size_t valueSize) { return ((valueSize + kOverhead) * 4 + 2) / 3; }

 private:
  static constexpr std::size_t kSaltSize = 12;  // of the derived key
  static constexpr std::size_t kNonceSize = 12;
  static constexpr std::size_t kTagSize = 16;
  static constexpr std::size_t kOverhead = kSaltSize + kNonceSize + kTagSize;

  std::optional<std::string> openWith(const base::Secret& key, std::string_view bytes, std::string_view scope) const;

  struct Free {
    void operator()(evp_cipher_st* cipher) const;
  };
  const base::Secret key_;
  const base::Secret previous_;
  std::unique_ptr<evp_cipher_st, Free> cipher_;  // fetched once: looking it up costs more than using it
};

}  // namespace sluice::pki

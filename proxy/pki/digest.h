// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), which identify certificates, pins and configurations, and SHA-1
// for the WebSocket handshake, which still requires it.
//
// Values; one thread at a time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/secret.h"

struct evp_md_ctx_st;

namespace sluice::pki {

using Sha256Digest = std::array<unsigned char, 32>;

/// Digests bytes that arrive in pieces, as if they were one.
class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  /// Returns the digest. To be called once, after the last add().
  Sha256Digest finish();

 private:
  struct FreeDigestContext {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, FreeDigestContext> context_;
};

Sha256Digest sha256(std::string_view bytes);
/// Computes a keyed digest. Without `key` it can be neither computed nor checked against a guess.
Sha256Digest hmacSha256(const base::Secret& key, std::string_view bytes);

/// SHA-1 (FIPS 180-4) for the answer to a WebSocket's handshake (RFC 6455 section 4.2.2), where it proves
/// understanding and protects nothing. Never for anything else.
using Sha1Digest = std::array<unsigned char, 20>;
Sha1Digest sha1(std::string_view bytes);

std::string_view asBytes(const Sha256Digest& digest);
/// Returns 64 digits, in lower case.
std::string toHex(const Sha256Digest& digest);

}  // namespace sluice::pki

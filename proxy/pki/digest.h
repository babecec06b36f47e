// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104): what tells two certificates, pins or configurations apart. And
// SHA-1 for the one thing that still asks for it.
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

/// Of bytes that come in pieces; the digest is that of all of them in a row.
class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  /// Once, and last.
  Sha256Digest finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

Sha256Digest sha256(std::string_view bytes);
/// Without `key`, neither to be computed nor to be compared with a guess.
Sha256Digest hmacSha256(const base::Secret& key, std::string_view bytes);

/// FIPS 180-4, for the answer to a WebSocket's handshake (RFC 6455 section 4.2.2), where it proves understanding and
/// protects nothing. Never for anything else.
using Sha1Digest = std::array<unsigned char, 20>;
Sha1Digest sha1(std::string_view bytes);

std::string_view asBytes(const Sha256Digest& digest);
/// 64 digits, in lower case.
std::string toHex(const Sha256Digest& digest);

}  // namespace sluice::pki

// The identity of a destination contains everything in which two connections to backends could differ. Clusters, their
// bounds and their pools are found by it, whichever configuration named the destination.
//
// A value, made once when a configuration is compiled; it holds no secret. It compares by its SHA-256, so each request
// finds its cluster by comparing a few words.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "proxy/pki/digest.h"

namespace sluice::routing {

class BackendIdentity {
 public:
  /// Makes the identity of no destination.
  BackendIdentity() = default;
  // These constructors are implicit, because an identity is made of a text only.
  BackendIdentity(std::string text) : text_(std::move(text)) {
    if (text_.empty()) return;
    const pki::Sha256Digest digest = pki::sha256(text_);
    std::memcpy(digest_.data(), digest.data(), digest.size());
  }
  BackendIdentity(const char* text) : BackendIdentity(std::string(text)) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  std::size_t hash() const { return digest_.front(); }

  friend bool operator==(const BackendIdentity& a, const BackendIdentity& b) { return a.digest_ == b.digest_; }
  /// Orders by the text, so the order does not depend on digests.
  friend std::strong_ordering operator<=>(const BackendIdentity& a, const BackendIdentity& b) {
    return a.text_ <=> b.text_;
  }

  struct Hash {
    std::size_t operator()(const BackendIdentity& identity) const { return identity.hash(); }
  };

 private:
  std::string text_;
  std::array<std::uint64_t, sizeof(pki::Sha256Digest) / sizeof(std::uint64_t)> digest_{};
};

}  // namespace sluice::routing

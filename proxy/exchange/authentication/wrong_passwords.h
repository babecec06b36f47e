// The claims that a worker has found to be wrong lately. They are refused without a check, so that a client that goes
// on with a wrong password costs nothing.
//
// What is dropped because of the bound is checked again, at the cost of the share of its client. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <unordered_set>

#include "proxy/base/clock.h"
#include "proxy/pki/digest.h"

namespace sluice::exchange {

/// For digests that no client can choose.
struct DigestHash {
  std::size_t operator()(const pki::Sha256Digest& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
  }
};

class WrongPasswords {
 public:
  static constexpr base::Duration kKept = std::chrono::seconds(10);
  static constexpr std::size_t kMost = 1000;

  bool contain(const pki::Sha256Digest& claim, base::MonotonicTime now) {
    dropUntil(now);
    return digests_.contains(claim);
  }
  void add(const pki::Sha256Digest& claim, base::MonotonicTime now) {
    dropUntil(now);
    if (!digests_.insert(claim).second) return;
    if (inOrder_.size() == kMost) dropOldest();
    inOrder_.push_back({claim, now + kKept});
  }
  std::size_t size() const { return inOrder_.size(); }

 private:
  struct WrongClaim {
    pki::Sha256Digest digest;
    base::MonotonicTime until;
  };

  void dropUntil(base::MonotonicTime now) {
    while (!inOrder_.empty() && inOrder_.front().until <= now) dropOldest();
  }
  void dropOldest() {
    digests_.erase(inOrder_.front().digest);
    inOrder_.pop_front();
  }

  std::deque<WrongClaim> inOrder_;  // the oldest first
  std::unordered_set<pki::Sha256Digest, DigestHash> digests_;
};

}  // namespace sluice::exchange

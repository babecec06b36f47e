// Counts how often this replica has refused its newest objects, and has them tried again until it has refused them for
// good. So a fault of the moment does not taint a revision. Lives on the main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "proxy/base/random.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"

namespace sluice::kubernetes {

class Refusals final : private net::Timer {
 public:
  /// Called inside a Turn to have the objects tried again that have this digest. They may have changed since.
  using TryAgain = std::function<void(const std::string& digest)>;
  /// `main` outlives it. `seed` must not be 0.
  Refusals(net::Worker& main, std::uint64_t seed, TryAgain tryAgain)
      : main_(main), random_(seed), tryAgain_(std::move(tryAgain)) {}

  /// Counts a refusal of a revision of the objects, which are refused for good after `most`. Inside a Turn.
  void note(const std::string& revision, const std::string& digest, std::uint32_t most);
  /// Called when the newest objects are not refused, or when they are to be tried as if they had never been.
  void clear();
  std::uint32_t count() const { return count_; }
  /// Returns true if the newest objects are not tried again.
  bool areFinal() const { return isFinal_; }

 private:
  void onTimer() override { tryAgain_(digest_); }

  net::Worker& main_;
  base::Random random_;
  const TryAgain tryAgain_;
  std::string revision_;  // that was refused last
  std::string digest_;
  std::uint32_t count_ = 0;
  bool isFinal_ = false;
};

}  // namespace sluice::kubernetes

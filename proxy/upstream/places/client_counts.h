// Counts how many requests each client has at one Backend, from one worker: its own cost is two plain additions.
//
// Clients are counted by hash, in two rows, of which the lower count is right unless others share both. So a count may
// be too high, and is never too low. The owner's thread changes it; any thread may read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proxy/net/address.h"

namespace sluice::upstream {

class ClientCounts {
 public:
  static constexpr std::size_t kRows = 2;
  /// The counts of one client, which may be added to those of other workers.
  using Counts = std::array<std::uint64_t, kRows>;

  void add(net::ClientNetwork client, int more) {
    for (std::size_t row = 0; row < kRows; ++row) {
      std::atomic<std::uint32_t>& count = rows_[row][slotOf(client, row)];
      count.store(count.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(more), std::memory_order_relaxed);
    }
  }
  void addTo(Counts& counts, net::ClientNetwork client) const {
    for (std::size_t row = 0; row < kRows; ++row) {
      counts[row] += rows_[row][slotOf(client, row)].load(std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::size_t kBits = 8;

  /// Takes other bits of the product in each row. An odd multiplier spreads neighbours.
  static std::size_t slotOf(net::ClientNetwork client, std::size_t row) {
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
    return client * kMultiplier >> (64 - kBits * (row + 1)) & ((std::size_t{1} << kBits) - 1);
  }

  std::array<std::array<std::atomic<std::uint32_t>, std::size_t{1} << kBits>, kRows> rows_{};
};

}  // namespace sluice::upstream

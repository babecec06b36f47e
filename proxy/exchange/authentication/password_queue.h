// The passwords that wait for their check, which takes long. Clients take turns, so that one with many does not keep
// others waiting, and the share of a client address is a quarter of the room.
//
// Owned by PasswordChecks, which guards it by a mutex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/net/address.h"
#include "proxy/net/worker.h"
#include "proxy/pki/password_file.h"

namespace sluice::exchange {

/// A password to check. `answer` is called on the thread of `worker`, inside a Turn.
struct PasswordCheck {
  pki::PasswordClaim claim;
  net::Worker* worker;
  std::function<void(bool right)> answer;
};

class PasswordQueue {
 public:
  explicit PasswordQueue(std::uint64_t most) : most_(most) {}

  /// What waits beyond a lower bound stays.
  void setMost(std::uint64_t most) { most_ = most; }
  bool empty() const { return size_ == 0; }
  std::uint64_t size() const { return size_; }
  /// Returns false if there is no room, or none for this client.
  bool add(net::ClientNetwork client, PasswordCheck&& check);
  /// Removes the oldest check of the client whose turn it is. The queue must not be empty.
  PasswordCheck take();
  /// Removes all other checks of the same claim.
  std::vector<PasswordCheck> takeSame(const pki::Sha256Digest& digest);
  void clear();

 private:
  struct ClientChecks {
    net::ClientNetwork client;
    std::deque<PasswordCheck> waiting;  // never empty
  };

  std::uint64_t shareOfClient() const { return std::max<std::uint64_t>(most_ / 4, 1); }

  std::uint64_t most_;
  std::uint64_t size_ = 0;
  std::deque<ClientChecks> clients_;  // the first one has the turn
};

}  // namespace sluice::exchange

// A survey says which clients hold the places of a Backend (limits.backendRequests), and which request gives way when
// there is none left.
//
// While places are short, no client keeps more than its share: one that wants a place gets the next one of a client
// that holds two more than it does, or is refused. The request that gives way is one whose client owes bytes of its
// body, or does not take bytes of its response: of the client that holds most, the one that has stood still for
// longest. A request that waits for its Backend never gives way. Requests of one and the same client take places from
// each other only if they have stood still for very long. A value; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"

namespace sluice::upstream {

/// Describes whose request holds a place, and since when that client holds the request up.
struct PlaceClaim {
  net::ClientNetwork client = net::kOwnNetwork;
  base::MonotonicTime owesSince = base::MonotonicTime::max();  // max(): it waits for its Backend
};

class PlaceSurvey {
 public:
  /// Shorter stalls occur on any network.
  static constexpr base::Duration kStalled = std::chrono::milliseconds(250);
  /// After this long, a request gives way to others of its own client.
  static constexpr base::Duration kStuck = std::chrono::seconds(5);
  /// How many places more another client must hold: with one more, the two would only change places.
  static constexpr std::uint64_t kLead = 2;

  explicit PlaceSurvey(base::MonotonicTime made) : made_(made) {}
  base::MonotonicTime made() const { return made_; }

  void add(http::Token holder, const PlaceClaim& claim);
  /// Notes how many places each of these clients holds in all: `heldBy` is asked once for each.
  template <typename HeldBy>
  void weigh(HeldBy&& heldBy) {
    for (auto& [client, share] : shares_) share.held = heldBy(client);
  }

  /// Returns true if some client may hold kLead places more than that client, which holds `held`, or if a request of
  /// its own is stuck. `taken` is the number of all places that are taken: clients that have no request at this worker
  /// count as one.
  bool favours(net::ClientNetwork client, std::uint64_t held, std::uint64_t taken, base::MonotonicTime now) const;
  /// Chooses the request that gives way to one of that client now, and forgets it. Linear in the number of clients.
  std::optional<http::Token> choose(net::ClientNetwork client, std::uint64_t held, base::MonotonicTime now);

 private:
  struct StalledRequest {
    base::MonotonicTime since;
    http::Token holder;
  };
  struct Share {
    std::uint64_t held = 0;               // at all workers
    std::vector<StalledRequest> stalled;  // a heap: the one that has stood still for longest comes first

    bool hasStalled(base::Duration time, base::MonotonicTime now) const {
      return !stalled.empty() && now - stalled.front().since >= time;
    }
  };

  static bool isLater(const StalledRequest& a, const StalledRequest& b) { return a.since > b.since; }

  base::MonotonicTime made_;
  std::unordered_map<net::ClientNetwork, Share> shares_;
};

}  // namespace sluice::upstream

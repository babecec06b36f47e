// The plans of destinations that requests have named, of one worker. Their number is bounded, because clients choose
// the names: the least recently used one makes room for a new one, but none that has requests. The share of a client
// address is a quarter of the table: one that has it leaves a quarter free for others, or replaces its own plans.
//
// Owned by Upstreams; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/net/address.h"
#include "proxy/routing/dynamic_targets.h"
#include "proxy/routing/snapshot.h"

namespace sluice::upstream {

/// The bound of these plans, as settings and metrics name it.
inline constexpr std::string_view kRequestedLimit = "dynamicClusters";

class RequestedPlans {
 public:
  using Plan = std::shared_ptr<const routing::BackendPlan>;

  /// The parts of its owner.
  struct Clusters {
    std::function<bool(const routing::BackendPlan&)> areBusy;
    std::function<void(const routing::BackendPlan&)> retire;  // called for each plan that leaves
  };
  explicit RequestedPlans(Clusters clusters) : clusters_(std::move(clusters)) {}

  /// Returns the plan of the destination; null if it has none.
  Plan find(const routing::RequestedTarget& target) const;
  /// Takes the plan of a destination for a request of `client` that goes there now. Returns false if `most` others have
  /// requests, or all that this client may replace; when so many have requests that a look at some finds none without,
  /// that is enough.
  bool take(const Plan& plan, net::ClientNetwork client, std::size_t most);
  /// Returns true if it has this plan, or the one with this plan over HTTP/1.1.
  bool holds(const routing::BackendIdentity& identity) const { return identities_.contains(identity); }
  /// Forgets the plans of Backends, or of ports, that are not among `plans`.
  void keepOf(const std::vector<Plan>& plans);

 private:
  struct RequestedEntry {
    Plan plan;
    net::ClientNetwork client;  // that of the first request
  };
  using Entries = std::list<RequestedEntry>;  // the least recently used one is the last

  /// A destination; views into a plan.
  struct DestinationKey {
    const routing::BackendIdentity* ofPort;
    std::string_view host;
    std::uint16_t port;

    friend bool operator==(const DestinationKey& a, const DestinationKey& b) {
      return a.port == b.port && a.host == b.host && *a.ofPort == *b.ofPort;
    }
  };
  struct DestinationKeyHash {
    std::size_t operator()(const DestinationKey& key) const {
      return (std::hash<std::string_view>()(key.host) * 31 + key.port) ^ key.ofPort->hash();
    }
  };
  using IdentityCounts = std::unordered_map<routing::BackendIdentity, std::size_t, routing::BackendIdentity::Hash>;

  static DestinationKey keyOf(const routing::BackendPlan& plan) {
    return {&plan.requestedOf->identity, plan.hostname, plan.port};
  }
  bool makeRoom(net::ClientNetwork client, bool ownOnly);
  void erase(Entries::iterator entry);

  Clusters clusters_;
  Entries entries_;
  std::unordered_map<DestinationKey, Entries::iterator, DestinationKeyHash> byKey_;
  IdentityCounts identities_;                                 // of the plans, and of those over HTTP/1.1
  std::unordered_map<net::ClientNetwork, std::size_t> held_;  // plans by the client whose request came first
};

}  // namespace sluice::upstream

// The plans of destinations that requests have named, of one worker. Their number is bounded, because clients choose
// the names: the least recently used one makes room for a new one, but none that has requests. When the table is full,
// no client address holds more than a quarter of it.
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

#include "proxy/net/address.h"
#include "proxy/routing/dynamic_targets.h"
#include "proxy/routing/snapshot.h"

namespace sluice::upstream {

class RequestedPlans {
 public:
  using Plan = std::shared_ptr<const routing::BackendPlan>;

  /// The parts of its owner.
  struct Clusters {
    std::function<bool(const routing::BackendPlan&)> haveRequests;
    std::function<void(const routing::BackendPlan&)> retire;  // called for each plan that leaves
  };
  explicit RequestedPlans(Clusters clusters) : clusters_(std::move(clusters)) {}

  /// Returns the plan of a destination, made for the request of `client` if there is none yet. Null if `most` others
  /// have requests, or all that this client may replace.
  Plan find(const routing::RequestedTarget& target, net::ClientNetwork client, std::size_t most);
  /// Returns true if it has this plan, or the one with this plan over HTTP/1.1.
  bool holds(const routing::BackendIdentity& identity) const { return identities_.contains(identity); }
  /// Forgets the plans of Backends, or of ports, that are not among `plans`.
  void keepOf(const std::vector<Plan>& plans);
  std::size_t size() const { return entries_.size(); }

 private:
  struct RequestedEntry {
    Plan ofPort;
    Plan plan;
    net::ClientNetwork client;  // that of the first request
  };
  using Entries = std::list<RequestedEntry>;  // the least recently used one is the last

  /// A destination; views into a RequestedEntry.
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

  static DestinationKey keyOf(const RequestedEntry& entry) {
    return {&entry.ofPort->identity, entry.plan->hostname, entry.plan->port};
  }
  bool makeRoom(net::ClientNetwork client, std::size_t most);
  void erase(Entries::iterator entry);

  Clusters clusters_;
  Entries entries_;
  std::unordered_map<DestinationKey, Entries::iterator, DestinationKeyHash> byKey_;
  IdentityCounts identities_;  // of the plans, and of those over HTTP/1.1
};

}  // namespace sluice::upstream

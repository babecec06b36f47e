#include "proxy/upstream/requested/requested_plans.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace sluice::upstream {
namespace {

constexpr std::size_t kSharesOfClients = 4;
/// Bounds the work of one request.
constexpr std::size_t kMostLooked = 256;

template <typename Visit>
void forIdentities(const routing::BackendPlan& plan, Visit&& visit) {
  visit(plan.identity);
  if (plan.http11 != nullptr) visit(plan.http11->identity);
}

}  // namespace

RequestedPlans::Plan RequestedPlans::find(const routing::RequestedTarget& target) const {
  const auto found = byKey_.find({&target.ofPort->identity, target.host, target.port});
  return found != byKey_.end() ? found->second->plan : nullptr;
}

bool RequestedPlans::take(const Plan& plan, net::ClientNetwork client, std::size_t most) {
  if (const auto found = byKey_.find(keyOf(*plan)); found != byKey_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return true;
  }
  const std::size_t share = std::max<std::size_t>(most / kSharesOfClients, 1);
  const auto held = held_.find(client);
  const bool hasShare = held != held_.end() && held->second >= share;
  const std::size_t bound = hasShare ? most - share : most;
  if (entries_.size() >= bound && !makeRoom(client, hasShare)) return false;
  // The bound may have been lowered.
  if (entries_.size() >= most) makeRoom(client, false);
  entries_.push_front({plan, client});
  byKey_.emplace(keyOf(*plan), entries_.begin());
  ++held_[client];
  forIdentities(*plan, [this](const routing::BackendIdentity& each) { ++identities_[each]; });
  return true;
}

/// Drops the least recently used plan that is not busy; with `ownOnly`, one of this client. Busy ones move to the other
/// end, so the next call does not look at them again.
bool RequestedPlans::makeRoom(net::ClientNetwork client, bool ownOnly) {
  auto entry = entries_.end();
  for (std::size_t left = std::min(entries_.size(), kMostLooked); left > 0; --left) {
    const auto each = std::prev(entry);
    if (clusters_.areBusy(*each->plan)) {
      entries_.splice(entries_.begin(), entries_, each);
    } else if (ownOnly && each->client != client) {
      entry = each;
    } else {
      erase(each);
      return true;
    }
  }
  return false;
}

void RequestedPlans::erase(Entries::iterator entry) {
  byKey_.erase(keyOf(*entry->plan));
  forIdentities(*entry->plan, [this](const routing::BackendIdentity& each) {
    const auto found = identities_.find(each);
    if (--found->second == 0) identities_.erase(found);
  });
  if (const auto held = held_.find(entry->client); --held->second == 0) held_.erase(held);
  const Plan plan = entry->plan;
  entries_.erase(entry);
  clusters_.retire(*plan);
}

void RequestedPlans::keepOf(const std::vector<Plan>& plans) {
  std::unordered_set<routing::BackendIdentity, routing::BackendIdentity::Hash> ports;
  for (const Plan& each : plans) {
    if (each->dynamic == nullptr) continue;
    for (const Plan& port : each->dynamic->ports) {
      ports.insert(port->identity);
      if (port->stream != nullptr) ports.insert(port->stream->identity);
    }
  }
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (!ports.contains(entry->plan->requestedOf->identity)) erase(entry);
    entry = next;
  }
}

}  // namespace sluice::upstream

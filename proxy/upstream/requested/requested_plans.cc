#include "proxy/upstream/requested/requested_plans.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace sluice::upstream {
namespace {

constexpr std::size_t kSharesOfClients = 4;

template <typename Visit>
void forIdentities(const routing::BackendPlan& plan, Visit&& visit) {
  visit(plan.identity);
  if (plan.http11 != nullptr) visit(plan.http11->identity);
}

}  // namespace

RequestedPlans::Plan RequestedPlans::find(const routing::RequestedTarget& target, net::ClientNetwork client,
                                          std::size_t most) {
  const auto found = byKey_.find({&target.ofPort->identity, target.host, target.port});
  if (found != byKey_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->plan;
  }
  while (entries_.size() >= most) {
    if (!makeRoom(client, most)) return nullptr;
  }
  RequestedEntry& entry = entries_.emplace_front(target.ofPort, routing::requestedPlan(target), client);
  byKey_.emplace(keyOf(entry), entries_.begin());
  forIdentities(*entry.plan, [this](const routing::BackendIdentity& each) { ++identities_[each]; });
  return entry.plan;
}

/// Drops the least recently used plan that has no requests; one of this client if it holds its share already.
bool RequestedPlans::makeRoom(net::ClientNetwork client, std::size_t most) {
  const auto isOwn = [client](const RequestedEntry& entry) { return entry.client == client; };
  const auto held = static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), isOwn));
  const bool hasShare = held >= std::max<std::size_t>(most / kSharesOfClients, 1);
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if ((hasShare && !isOwn(*entry)) || clusters_.haveRequests(*entry->plan)) continue;
    erase(std::prev(entry.base()));
    return true;
  }
  return false;
}

void RequestedPlans::erase(Entries::iterator entry) {
  byKey_.erase(keyOf(*entry));
  forIdentities(*entry->plan, [this](const routing::BackendIdentity& each) {
    const auto found = identities_.find(each);
    if (--found->second == 0) identities_.erase(found);
  });
  const Plan plan = entry->plan;
  entries_.erase(entry);
  clusters_.retire(*plan);
}

void RequestedPlans::keepOf(const std::vector<Plan>& plans) {
  std::unordered_set<routing::BackendIdentity, routing::BackendIdentity::Hash> ports;
  for (const Plan& each : plans) {
    if (each->dynamic == nullptr) continue;
    for (const Plan& port : each->dynamic->ports) ports.insert(port->identity);
  }
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (!ports.contains(entry->ofPort->identity)) erase(entry);
    entry = next;
  }
}

}  // namespace sluice::upstream

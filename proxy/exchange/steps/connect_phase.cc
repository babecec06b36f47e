#include "proxy/exchange/steps/connect_phase.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice::exchange {
namespace {

processing::Destination destinationOf(const routing::BackendPlan& plan,
                                      std::span<const processing::Destination::ResolvedAddress> addresses) {
  const std::string_view serverName = plan.tls ? std::string_view(plan.tls->serverName) : std::string_view();
  return {plan.hostname, plan.port, serverName, addresses};
}

}  // namespace

void ConnectPhase::begin(base::Arena& arena, const routing::BackendPlan& plan, net::Addresses addresses) {
  addresses_ = std::move(addresses);
  auto* const seen = arena.array<processing::Destination::ResolvedAddress>(addresses_.size());
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    seen[i] = {arena.copy(addresses_[i].ip()), addresses_[i].port(), i};
  }
  destination_ = destinationOf(plan, {seen, addresses_.size()});
}

void ConnectPhase::connected(base::Arena& arena, const routing::BackendPlan& plan, const net::Address& peer) {
  if (!ended_) destination_ = destinationOf(plan, {});
  destination_.settle(arena, peer.ip(), peer.port());
}

void ConnectPhase::end() {
  std::size_t count = 0;
  for (const auto& left : destination_.addresses()) addresses_[count++] = addresses_[left.number];
  addresses_.resize(count);
  ended_ = true;
}

bool ConnectPhase::leaveOut(const net::Address& address) {
  addresses_.erase(std::remove(addresses_.begin(), addresses_.end(), address), addresses_.end());
  return !addresses_.empty();
}

const processing::Step* ConnectPhase::refusing(const upstream::Request& request, const http::RequestHead& head,
                                               const processing::Peer& peer) const {
  if (!ended_ || destination_.judges() == nullptr) return nullptr;
  const net::Address& address = *request.peer();
  const std::string ip = address.ip();
  const processing::TakenConnection connection{ip, address.port(), destination_.serverName(), request.certificate()};
  for (const auto* judge = destination_.judges(); judge != nullptr; judge = judge->next) {
    const processing::Step& step = judge->step;
    if (!step.processor->admits(connection, head, seesClient(step) ? peer : processing::Peer{})) return &step;
  }
  return nullptr;
}

}  // namespace sluice::exchange

#include "proxy/exchange/steps/connect_phase.h"

#include <utility>

namespace sluice::exchange {

void ConnectPhase::begin(base::Arena& arena, const routing::BackendPlan& plan, net::Addresses addresses) {
  addresses_ = std::move(addresses);
  auto* const seen = arena.array<processing::Destination::ResolvedAddress>(addresses_.size());
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    seen[i] = {arena.copy(addresses_[i].ip()), addresses_[i].port(), i};
  }
  const std::string_view serverName = plan.tls ? std::string_view(plan.tls->serverName) : std::string_view();
  destination_ = {plan.hostname, plan.port, serverName, {seen, addresses_.size()}};
}

void ConnectPhase::end() {
  std::size_t count = 0;
  for (const auto& left : destination_.addresses()) addresses_[count++] = addresses_[left.number];
  addresses_.resize(count);
  ended_ = true;
}

}  // namespace sluice::exchange

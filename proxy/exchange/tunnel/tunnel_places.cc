#include "proxy/exchange/tunnel/tunnel_places.h"

namespace sluice::exchange {

void TunnelPlaces::setBounds(const base::LimitSettings& limits) {
  const std::lock_guard lock(mutex_);
  most_ = limits.tunnels;
  mostOfClient_ = limits.tunnelsPerAddress;
}

std::optional<TunnelPlaces::TunnelPlace> TunnelPlaces::take(net::ClientNetwork client, std::string_view& reached) {
  const std::lock_guard lock(mutex_);
  if (taken_ >= most_) {
    reached = "tunnels";
    return std::nullopt;
  }
  const auto own = ofClients_.find(client);
  if (mostOfClient_ > 0 && own != ofClients_.end() && own->second >= mostOfClient_) {
    reached = "tunnelsPerAddress";
    return std::nullopt;
  }
  ++taken_;
  ++ofClients_[client];
  return std::optional<TunnelPlace>(std::in_place, *this, client);
}

std::uint64_t TunnelPlaces::taken() {
  const std::lock_guard lock(mutex_);
  return taken_;
}

void TunnelPlaces::giveBack(net::ClientNetwork client) {
  const std::lock_guard lock(mutex_);
  --taken_;
  const auto own = ofClients_.find(client);
  if (--own->second == 0) ofClients_.erase(own);
}

}  // namespace sluice::exchange

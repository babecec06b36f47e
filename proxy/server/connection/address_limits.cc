#include "proxy/server/connection/address_limits.h"

#include <algorithm>
#include <chrono>

namespace sluice::server {
namespace {

constexpr base::Duration kSecond = std::chrono::seconds(1);

}  // namespace

AddressLimits::AddressLimits(observe::MetricShard& metrics)
    : refusedConnections_(metrics.at<observe::Metric::kLimitHits>("connectionsPerAddress")),
      refusedHandshakes_(metrics.at<observe::Metric::kLimitHits>("handshakesPerAddress")) {}

void AddressLimits::setBounds(const base::LimitSettings& limits) {
  mostConnections_ = limits.connectionsPerAddress;
  mostHandshakes_ = limits.handshakesPerAddress;
}

std::string_view AddressLimits::admit(const net::Address& peer, bool tls, base::MonotonicTime now, Place& place) {
  const bool boundHandshakes = tls && mostHandshakes_ != 0;
  if (mostConnections_ == 0 && !boundHandshakes) return {};
  sweep(now);
  Client& client = clients_[net::networkOf(peer)];
  if (!client.place) client.place = std::make_shared<char>();
  const auto open = static_cast<std::uint64_t>(client.place.use_count() - 1);
  if (mostConnections_ != 0 && open >= mostConnections_) {
    refusedConnections_.add();
    return "connectionsPerAddress";
  }
  if (boundHandshakes) {
    if (now - client.secondBegan >= kSecond) {
      client.secondBegan = now;
      client.handshakes = 0;
    }
    if (client.handshakes >= mostHandshakes_) {
      refusedHandshakes_.add();
      return "handshakesPerAddress";
    }
    ++client.handshakes;
  }
  place = client.place;
  return {};
}

void AddressLimits::sweep(base::MonotonicTime now) {
  if (clients_.size() < sweepAt_) return;
  std::erase_if(clients_, [&](const auto& each) {
    return each.second.place.use_count() == 1 && now - each.second.secondBegan >= kSecond;
  });
  constexpr std::size_t kLeast = 64;
  sweepAt_ = std::max(kLeast, 2 * clients_.size());
}

}  // namespace sluice::server

#include "proxy/exchange/telemetry/tunnel_telemetry.h"

#include <algorithm>
#include <cstdint>

#include "proxy/routing/policy/egress/egress_facts.h"

namespace sluice::exchange {
namespace {

constexpr std::string_view kConnectWay = routing::sightOf(routing::EgressWay::kConnect).name;

}  // namespace

std::string_view wayOf(const Transaction& transaction) {
  if (!transaction.client.forwardProxy) return {};
  const bool isTunnel = transaction.request.head.tunnel == http::Tunnel::kStream;
  return isTunnel ? kConnectWay : routing::sightOf(routing::EgressWay::kAbsolute).name;
}

std::string_view endOfTunnel(const Transaction& transaction) {
  return tunnelEndName(transaction.streamTunnel->end.value_or(TunnelEnd::kError));
}

TunnelledBytes tunnelledBytes(const Transaction& transaction) {
  const std::uint64_t sent = transaction.responseBytes;
  return {transaction.passedBytes, sent - std::min<std::uint64_t>(sent, transaction.streamTunnel->alertBytes)};
}

observe::Gauge& TunnelTelemetry::open(const ExchangeNames& names) {
  return metrics_.at<observe::Metric::kTunnels>(names.gateway, names.route, names.backend, kConnectWay);
}

void TunnelTelemetry::onEnded(const ExchangeNames& names, const Transaction& transaction, base::MonotonicTime now) {
  open(names).add(-1);
  metrics_
      .at<observe::Metric::kTunnelsEnded>(names.gateway, names.route, names.backend, kConnectWay,
                                          endOfTunnel(transaction))
      .add();
  const auto bytes = [&](std::string_view direction) -> observe::Counter& {
    return metrics_.at<observe::Metric::kTunnelBytes>(names.gateway, names.route, names.backend, direction);
  };
  const TunnelledBytes passed = tunnelledBytes(transaction);
  bytes("receive").add(passed.received);
  bytes("transmit").add(passed.sent);
  metrics_.at<observe::Metric::kTunnelDuration>(names.gateway, kConnectWay)
      .observe(now - transaction.streamTunnel->agreed);
}

}  // namespace sluice::exchange

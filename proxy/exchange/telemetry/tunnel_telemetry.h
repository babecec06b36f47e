// Counts tunnels for bytes of any protocol. Each worker has one, on its thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/exchange/reply/exchange_names.h"
#include "proxy/exchange/transaction/transaction.h"
#include "proxy/observe/metrics.h"

namespace sluice::exchange {

class TunnelTelemetry {
 public:
  /// `metrics` outlives it.
  explicit TunnelTelemetry(observe::MetricShard& metrics) : metrics_(metrics) {}

  void onOpened(const ExchangeNames& names) { open(names).add(1); }
  /// Called when an exchange is over that had opened a tunnel.
  void onEnded(const ExchangeNames& names, const Transaction& transaction, base::MonotonicTime now);

 private:
  observe::Gauge& open(const ExchangeNames& names);

  observe::MetricShard& metrics_;
};

/// Returns whether the exchange has become a tunnel for bytes of any protocol.
inline bool isStreamTunnel(const Transaction& transaction) { return transaction.tunnel == http::Tunnel::kStream; }
/// Returns the name of the reason for the end of such a tunnel.
std::string_view endOfTunnel(const Transaction& transaction);
/// The bytes that have passed such a tunnel: from the client, and to it.
struct TunnelledBytes {
  std::uint64_t received;
  std::uint64_t sent;
};
TunnelledBytes tunnelledBytes(const Transaction& transaction);
/// Returns "connect" or "absolute" for a request to a forward proxy, and nothing for any other.
std::string_view wayOf(const Transaction& transaction);

}  // namespace sluice::exchange

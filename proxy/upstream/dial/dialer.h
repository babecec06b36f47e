// A dialer opens connections to backends: over the network, or in a test's memory.
#pragma once

#include <memory>

#include "proxy/net/tls/tls.h"
#include "proxy/net/transport.h"

namespace sluice::upstream {

class Dialer {
 public:
  virtual ~Dialer() = default;
  /// Starts to connect; the sink is notified of the outcome in a later turn. `tls` may be null: plaintext.
  virtual std::unique_ptr<net::Transport> dial(const net::Address& to, net::TlsClientContext* tls,
                                               net::TransportSink& sink) = 0;
};

class NetworkDialer final : public Dialer {
 public:
  explicit NetworkDialer(net::Worker& worker) : worker_(worker) {}
  std::unique_ptr<net::Transport> dial(const net::Address& to, net::TlsClientContext* tls,
                                       net::TransportSink& sink) override;

 private:
  net::Worker& worker_;
};

}  // namespace sluice::upstream

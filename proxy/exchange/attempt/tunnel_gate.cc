#include "proxy/exchange/attempt/tunnel_gate.h"

#include <memory>
#include <string_view>
#include <utility>

#include "proxy/exchange/transaction/context.h"
#include "proxy/exchange/tunnel/stream_tunnel.h"

namespace sluice::exchange {

bool TunnelGate::enter() {
  if (t_.streamTunnel != nullptr) return true;
  std::string_view reached;
  auto place = t_.context.tunnels().take(t_.client.network, reached);
  if (place) {
    t_.streamTunnel = std::make_unique<StreamTunnel>(*std::move(place), t_.context.worker().chunks());
    // Over HTTP/2, the client may have sent bytes already.
    t_.requestBody.bytes.forEachRun([&](std::string_view run) { t_.streamTunnel->first.add(run); });
    return true;
  }
  t_.context.onLimit(reached);
  t_.raise(Event::kRejected, base::Error(base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
                                         "too many tunnels are open")
                                 .ofLimit(reached));
  return false;
}

bool TunnelGate::release() {
  StreamTunnel& stream = *t_.streamTunnel;
  if (stream.released) return true;
  if (!t_.tunnels()) return false;
  if (t_.requestBody.end() != http::PipeEnd::kOpen) stream.first.finish();
  if (!stream.first.known()) {
    if (!stream.first.begun() || stream.firstByte != base::MonotonicTime{}) return false;
    stream.firstByte = t_.now();
    t_.rearm = true;
    return false;
  }
  if (EgressGate::guards(t_.route) && !egress_.admitFirstBytes()) {
    stream.endBy(TunnelEnd::kPolicy);
    const bool isTls = stream.first.protocol() == http::StreamProtocol::kTls;
    t_.raise(isTls ? Event::kTunnelRefused : Event::kRejected, routing::egressDenied());
    return false;
  }
  stream.released = true;
  return true;
}

}  // namespace sluice::exchange

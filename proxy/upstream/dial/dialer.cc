#include "proxy/upstream/dial/dialer.h"

#include "proxy/net/tcp.h"

namespace sluice::upstream {

std::unique_ptr<net::Transport> NetworkDialer::dial(const net::Address& to, net::TlsClientContext* tls,
                                                    net::TransportSink& sink) {
  return tls != nullptr ? net::connectTls(worker_, to, *tls, sink) : net::connectTcp(worker_, to, sink);
}

}  // namespace sluice::upstream

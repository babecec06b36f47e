#include "proxy/net/tcp.h"

#include "proxy/net/tcp_stream.h"

namespace sluice::net {

std::unique_ptr<Transport> connectTcp(Worker& worker, const Address& to, TransportSink& sink) {
  return std::make_unique<TcpStream>(worker, to, sink);
}

std::unique_ptr<Transport> adoptTcp(Worker& worker, int fd, const Address& peer, TransportSink& sink) {
  return std::make_unique<TcpStream>(worker, fd, peer, sink);
}

}  // namespace sluice::net

// Plain TCP over libuv: TCP_NODELAY, the worker's shared read buffer, one gathered try-write.
#pragma once

#include <memory>

#include "proxy/net/transport.h"
#include "proxy/net/worker.h"

namespace sluice::net {

/// Starts to connect; onOpen() or onFailed() follows in a later turn (connection_refused, or connection_terminated for
/// every other error of the system; the deadline is the caller's). The sink outlives the transport.
std::unique_ptr<Transport> connectTcp(Worker& worker, const Address& to, TransportSink& sink);
/// Takes over a connected socket. The caller's setReadBudget() starts reading.
std::unique_ptr<Transport> adoptTcp(Worker& worker, int fd, const Address& peer, TransportSink& sink);

}  // namespace sluice::net

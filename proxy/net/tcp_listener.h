// A listening socket that hands over every accepted connection as a plain file descriptor: one acceptor serves all
// workers.
//
// Pauses for a moment when the process is out of descriptors, instead of spinning.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/address.h"
#include "proxy/net/worker.h"

namespace sluice::net {

/// A bound, listening, non-blocking socket. It is opened before any worker runs, so that a port in use is an error at
/// start. SO_REUSEADDR, backlog of the system's maximum. Port 0 takes a free port: see address().
class ListenSocket {
 public:
  /// `beside` are open sockets of this process that may overlap with the new address (0.0.0.0 and 127.0.0.1). A
  /// connection then arrives at the more specific one.
  static base::Result<ListenSocket> open(const Address& at, const std::vector<const ListenSocket*>& beside = {});
  ListenSocket(ListenSocket&& other) noexcept;
  ListenSocket& operator=(ListenSocket&& other) noexcept;
  ~ListenSocket();

  const Address& address() const { return address_; }
  int fd() const { return fd_; }

 private:
  ListenSocket(int fd, const Address& address) : fd_(fd), address_(address) {}
  int fd_ = -1;
  Address address_;
};

class TcpListener {
 public:
  /// Called inside a Turn; the descriptor (non-blocking, close-on-exec) is owned by the callee from then on.
  using Accepted = std::function<void(int fd, const Address& peer)>;

  /// Bounds a storm of connections, so that it does not starve the established ones.
  static constexpr int kAcceptsPerEvent = 64;

  /// `socket` outlives the listener. Each round of the loop accepts at most `perEvent` waiting connections.
  TcpListener(Worker& worker, const ListenSocket& socket, Accepted accepted, int perEvent = kAcceptsPerEvent);
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

 private:
  struct AcceptLoop;
  std::unique_ptr<AcceptLoop> loop_;
};

}  // namespace sluice::net

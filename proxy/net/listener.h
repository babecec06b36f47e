// A listening socket that hands every accepted connection to somebody else as a plain file descriptor: one acceptor for
// all workers.
//
// Pauses for a moment when the process is out of descriptors instead of spinning.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/address.h"
#include "proxy/net/worker.h"

namespace sluice::net {

/// A bound, listening, non-blocking socket: its own before any worker runs, so that a port in use is an error at start.
/// SO_REUSEADDR, backlog of the system's maximum. Port 0 takes a free one: see address().
class ListenSocket {
 public:
  /// `beside`: sockets of ours that are not in its way although their addresses overlap with its own (0.0.0.0 and
  /// 127.0.0.1). A connection then comes by the more specific one.
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

class Listener {
 public:
  /// Called inside a Turn; the descriptor (non-blocking, close-on-exec) is the callee's from then on.
  using Accepted = std::function<void(int fd, const Address& peer)>;

  /// This bounds a storm of connections, so that it does not starve those that are there.
  static constexpr int kAcceptsPerEvent = 64;

  /// `socket` outlives the listener. Of the connections that wait, each round of the loop takes at most `perEvent`.
  Listener(Worker& worker, const ListenSocket& socket, Accepted accepted, int perEvent = kAcceptsPerEvent);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::net

// A byte stream to a peer, plain or TLS: what connections read from and write to.
//
// Events are told to one TransportSink inside a Turn; like every event, they only record: the sink must not destroy the
// transport or write to it from within. Writing happens in the flush beat: the owner calls write() once per turn with
// everything it has, and gets onWritable() when a transport that would not take more takes more again. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/error.h"
#include "proxy/net/address.h"

namespace sluice::net {

class TransportSink {
 public:
  virtual ~TransportSink() = default;
  /// Connected and, with TLS, the handshake is complete and verified. Accepted plain sockets are connected from the
  /// start.
  virtual void onOpen() = 0;
  /// At most the read budget (TLS: plus one record). The view dies with the call.
  virtual void onBytes(std::string_view bytes) = 0;
  /// The peer ended its side: nothing more to read. `clean` is false for TLS without close_notify. Writing may go on.
  virtual void onEnd(bool clean) = 0;
  /// Accepted sockets, while nothing is read: the peer has ended its side behind bytes that wait to be read, of which
  /// `unread` is an upper bound. Told again about each second; onEnd() follows when they were read.
  virtual void onEndAhead(std::size_t /*unread*/) {}
  /// Lost, refused, timed out or not to be trusted: no more events. A reset by the peer is connection_terminated.
  virtual void onFailed(const base::Error& error) = 0;
  /// pending() has become false again.
  virtual void onWritable() = 0;
};

/// What a finished TLS handshake says.
struct TlsFacts {
  std::string alpn;  // "h2", "http/1.1" or empty
  std::string sni;   // server's side: what the client asked for, lower case
  bool resumed = false;
};

class Transport {
 public:
  /// Closes at once if close() was not called: what is pending is lost.
  virtual ~Transport() = default;

  /// How many bytes may be read until the next call; 0 stops reading. Costs system calls when it passes between 0 and
  /// not 0.
  virtual void setReadBudget(std::size_t bytes) = 0;
  /// Takes bytes from the front of `from` as far as the peer takes them, with one gathered system call; leaves the rest
  /// in there (at most a bounded number of bytes is kept inside, encrypted). Nothing while pending().
  virtual void write(base::ByteQueue& from) = 0;
  /// A write waits for the peer.
  virtual bool pending() const = 0;
  /// Returns how many bytes, as they went over the wire, the peer's system has acknowledged. Costs a system call.
  virtual std::uint64_t acknowledged() const = 0;
  /// Ends our side once what is pending has gone out: FIN, with TLS close_notify before it. Reading goes on.
  virtual void shutdown() = 0;
  /// Ends both sides now with RST, so that the peer can not take what it has for the whole.
  virtual void abort() = 0;

  /// The other end. For accepted sockets the client.
  virtual const Address& peer() const = 0;
  /// nullptr for plain TCP, or before onOpen().
  virtual const TlsFacts* tls() const = 0;
};

}  // namespace sluice::net

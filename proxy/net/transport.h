// A byte stream to a peer, plain or TLS, that connections read from and write to.
//
// One TransportSink gets the events inside a Turn; like every event, they only record: the sink must not destroy the
// transport or write to it from within. Writing happens in the flush beat: the owner calls write() once per turn with
// everything it has, and gets onWritable() when a transport that would not take more takes more again. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/base/terms/tcp_keepalive.h"
#include "proxy/net/address.h"

namespace sluice::pki {
class PeerChain;
}

namespace sluice::net {

class TransportSink {
 public:
  virtual ~TransportSink() = default;
  /// Called when the connection is made and, with TLS, the handshake is complete and verified. Accepted plain sockets
  /// are connected from the start.
  virtual void onOpen() = 0;
  /// Passes at most as many bytes as the read budget (TLS: plus one record). The view is valid during the call only.
  virtual void onBytes(std::string_view bytes) = 0;
  /// Called when the peer has ended its side: nothing more to read. `clean` is false for TLS without close_notify.
  /// Writing may go on.
  virtual void onEnd(bool clean) = 0;
  /// Called for accepted sockets while nothing is read: the peer has ended its side behind bytes that wait to be read,
  /// of which `unread` is an upper bound. Repeated about each second; onEnd() follows when they were read.
  virtual void onEndAhead(std::size_t /*unread*/) {}
  /// Called when the connection is lost, refused, timed out or not trusted: no further events follow. A reset by the
  /// peer is connection_terminated.
  virtual void onFailed(const base::Error& error) = 0;
  /// Called when pending() has become false again.
  virtual void onWritable() = 0;
};

/// The result of a finished TLS handshake.
struct TlsFacts {
  std::string alpn;  // "h2", "http/1.1" or empty
  std::string sni;   // server's side: the name that the client asked for, in lower case
  bool resumed = false;
  std::string_view version = {};  // "1.2" or "1.3"
  base::Duration handshake{};     // client's side: from the TCP connection on
  base::WallTime peerEnds{};      // client's side: when the server's certificate ends; the epoch if it is not known
};

class Transport {
 public:
  /// Closes at once if close() was not called: pending bytes are lost.
  virtual ~Transport() = default;

  /// Sends all further events to another sink. May be called from within onOpen().
  virtual void setSink(TransportSink& sink) = 0;
  /// Enables TCP keepalive: from now on, the peer is probed while the connection is idle.
  virtual void setKeepalive(const base::TcpKeepalive& keepalive) = 0;
  /// Sets how many bytes may be read until the next call; 0 stops reading. A change from 0 to more costs system calls
  /// if bytes have arrived meanwhile.
  virtual void setReadBudget(std::size_t bytes) = 0;
  /// Takes bytes from the front of `from` as far as the peer takes them, with one gathered system call; leaves the
  /// other bytes in it (a bounded number of bytes is kept inside, encrypted). Takes nothing while pending().
  virtual void write(base::ByteQueue& from) = 0;
  /// Returns true if the peer has neither ended nor sent anything that was not read. Costs a system call.
  virtual bool isQuiet() const = 0;
  /// Returns true while a write waits for the peer.
  virtual bool pending() const = 0;
  /// Returns how many bytes, as they went over the wire, the peer's system has acknowledged. Costs a system call.
  virtual std::uint64_t acknowledged() const = 0;
  /// Ends this side once all pending bytes have gone out: FIN, with TLS close_notify before it. Reading goes on.
  virtual void shutdown() = 0;
  /// Ends both sides now with RST, so that the peer cannot mistake the bytes that it has for a complete message.
  virtual void abort() = 0;

  /// Returns the other end: for accepted sockets the client.
  virtual const Address& peer() const = 0;
  /// Returns nullptr for plain TCP, or before onOpen().
  virtual const TlsFacts* tls() const = 0;
  /// Returns the SHA-256 of the DER of the certificate that the peer has shown, 32 bytes; empty for plain TCP, before
  /// onOpen(), or if it has shown none. Costs a hash.
  virtual std::string certificateDigest() const { return {}; }
  /// Returns the certificates that a client has shown, whether or not they were verified; null if it has shown none,
  /// for plain TCP, and before onOpen(). Each call makes a chain anew.
  virtual std::shared_ptr<const pki::PeerChain> clientChain() const { return nullptr; }
  /// Returns true if the handshake has failed because the client's certificate is missing or is refused.
  virtual bool hasRefusedPeer() const { return false; }
  /// Returns true if a TLS handshake has begun, however it ended.
  virtual bool hasShakenHands() const { return false; }
};

}  // namespace sluice::net

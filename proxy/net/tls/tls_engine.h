// One connection's TLS without its socket: ciphertext in, ciphertext out, by OpenSSL. Owned by the transport; one
// thread.
//
// Every call leaves the thread's error queue empty, so that no call has to clear it first (which would cost 1,700
// instructions per request): SSL_get_error() takes any error that it finds in the queue for its own.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/net/tls/tls_context.h"
#include "proxy/net/tls/tls_error.h"
#include "proxy/net/transport.h"
#include "proxy/pki/peer_chain.h"

namespace sluice::net {

class TlsEngine {
 public:
  enum class Step : std::uint8_t {
    kDone,
    kNeedsInput,   // cannot go on without more of wire().input
    kNeedsOutput,  // cannot go on without room in wire().output
    kClosed,       // close_notify has arrived
    kFailed,       // error() has the reason; only the bytes already in the wire can still be sent
  };

  /// Room that encrypt() needs for a full record, and for a control record before it.
  static constexpr std::size_t kRecordRoom = SSL3_RT_MAX_PLAIN_LENGTH + 1024;

  /// `now` decides whether a session may still be resumed.
  TlsEngine(TlsClientContext::ClientState& context, base::WallTime now);
  /// The clock decides whether a client's certificate is valid. It outlives the engine.
  TlsEngine(const TlsServerContext::ServerState& context, const base::Clock& clock);
  ~TlsEngine();
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  /// Input and output of the calls below; the caller sets them around each call.
  TlsWire& wire() { return wire_; }

  Step handshake();
  /// Fills `into` as far as there is input; `count` is the number of bytes it holds then, whatever the step.
  Step decrypt(std::span<char> into, std::size_t& count);
  /// Makes one record of at most 16 KiB of `plain`, which is not empty; `count` is the number of bytes that went into
  /// it.
  Step encrypt(std::string_view plain, std::size_t& count);
  /// Gives back the buffers for records; the next record of each direction allocates its own anew. Returns false if a
  /// part of a record is in them.
  bool releaseBuffers();
  /// Makes a close_notify.
  void close();

  TlsFacts facts() const;
  /// Returns the SHA-256 of the DER of the peer's certificate, 32 bytes; empty if it has shown none. A resumed session
  /// has the certificate of the handshake that it comes from.
  std::string certificateDigest() const;
  /// See Transport.
  std::shared_ptr<const pki::PeerChain> clientChain() const;
  /// Valid after kFailed.
  const base::Error& error() const { return error_; }
  /// Returns true after kFailed if this side refuses the certificate of the peer, or the lack of one.
  bool hasRefusedPeer() const { return refusedPeer_; }
  /// Returns true if the server has asked for a renegotiation, which was refused, and has sent no data since.
  bool hasRefusedRenegotiation() const { return notes_.refusedRenegotiation; }
  TlsPeer peer() const { return peer_; }

 private:
  static int noteDemand(SSL* ssl, void* unused);
  void attach(const BioMethod& method);
  Step classify(int result);

  SSL* ssl_;
  TlsWire wire_;
  TlsPeer peer_;
  std::string mismatch_;  // the names of a peer that has none of those expected; else empty
  TlsClientNotes notes_;
  bool certificateMissing_ = false;
  bool failed_ = false;
  bool refusedPeer_ = false;
  base::Error error_;
};

}  // namespace sluice::net

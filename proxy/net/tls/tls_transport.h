// TLS on a TcpStream: moves bytes between the socket, the engine and the sink. Internal to proxy/net; made by
// connectTls() and adoptTls().
//
// Between two calls the worker's buffers hold none of its bytes. Bytes that the kernel does not take are kept by the
// stream, at most one wire buffer (Worker::kWireBufferSize), and nothing is encrypted until they are gone. OpenSSL's
// buffers for records, 17 KiB for each direction, are kept until the connection rests. If many clients' connections
// keep theirs (Worker::kMostRecordBuffers), those of another one are given back after each use; the connections towards
// backends are few and busy, and not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/net/tcp_stream.h"
#include "proxy/net/timers.h"
#include "proxy/net/tls/tls_engine.h"
#include "proxy/net/transport.h"
#include "proxy/net/worker.h"

namespace sluice::net {

class TlsTransport final : public Transport, private TransportSink {
 public:
  TlsTransport(Worker& worker, const Address& to, TlsClientContext& context, TransportSink& sink);
  TlsTransport(Worker& worker, int fd, const Address& peer, const TlsServerContext& context, TransportSink& sink);
  ~TlsTransport() override;
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  void setSink(TransportSink& sink) override { sink_ = &sink; }
  void setKeepalive(const base::TcpKeepalive& keepalive) override { tcp_.setKeepalive(keepalive); }
  void setReadBudget(std::size_t bytes) override;
  void write(base::ByteQueue& from) override;
  bool pending() const override { return tcp_.pending(); }
  std::uint64_t acknowledged() const override { return tcp_.acknowledged(); }
  bool isQuiet() const override { return tcp_.isQuiet(); }
  void shutdown() override;
  void abort() override;
  bool hasRefusedPeer() const override { return engine_.peer() == TlsPeer::kClient && engine_.hasRefusedPeer(); }
  const Address& peer() const override { return tcp_.peer(); }
  const TlsFacts* tls() const override { return facts_.get(); }
  std::string certificateDigest() const override { return facts_ != nullptr ? engine_.certificateDigest() : ""; }
  std::shared_ptr<const pki::PeerChain> clientChain() const override {
    return facts_ != nullptr ? engine_.clientChain() : nullptr;
  }
  bool hasShakenHands() const override { return begun_ != base::MonotonicTime{}; }

 private:
  class Wake;
  /// Runs while the connection keeps its record buffers.
  class Rest final : public Timer {
   public:
    explicit Rest(TlsTransport& transport) : transport_(transport) {}

   private:
    void onTimer() override { transport_.rest(); }
    TlsTransport& transport_;
  };
  enum class State : std::uint8_t {
    kConnecting,
    kHandshake,
    kOpen,
    kPeerEnded,  // nothing more to read; writing goes on
    kOver,       // failed or aborted
  };
  enum class OurSide : std::uint8_t { kOpen, kEndWanted, kEnded };

  void onOpen() override;
  void onBytes(std::string_view ciphertext) override;
  void onEnd(bool clean) override;
  void onEndAhead(std::size_t unread) override { sink_->onEndAhead(held_.size() + unread); }
  void onFailed(const base::Error& error) override;
  void onWritable() override;

  void advance(std::string_view ciphertext);
  void shakeHands();
  void deliver();
  void passOn(std::string_view plain);
  TlsEngine::Step encryptFront(base::ByteQueue& from);
  void borrowWire();
  bool sendWire();
  void sendEnd();
  void endRead(bool clean);
  void fail(const base::Error& error);
  void readOn();
  void allowTcp(std::size_t bytes);
  void afterUse();
  void rest();
  bool canWrite() const { return state_ == State::kOpen || state_ == State::kPeerEnded; }

  TransportSink* sink_;
  TcpStream tcp_;
  TlsEngine engine_;
  std::size_t budget_ = 0;   // plaintext that the owner takes
  std::size_t allowed_ = 0;  // ciphertext that the stream may still read
  /// Ciphertext that could not be processed yet, at most one read of the handshake; the stream does not read
  /// meanwhile.
  std::string held_;
  std::unique_ptr<TlsFacts> facts_;
  std::unique_ptr<Wake> wake_;
  Rest rest_{*this};
  State state_;
  base::MonotonicTime begun_{};  // client's side: when the handshake began
  OurSide ourSide_ = OurSide::kOpen;
  bool used_ = false;       // since rest_ was set
  bool isCounted_ = false;  // among those that keep their buffers
};

}  // namespace sluice::net

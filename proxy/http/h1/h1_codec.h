// HTTP/1.x codecs (RFC 9112): state machines over bytes, one message each way at a time, for persistent connections.
//
// Both share their parts: H1SectionReader finds heads, H1BodyReader moves bodies in, and H1MessageWriter moves messages
// out. Idle, they hold no memory but themselves. Bytes beyond the credit, or beyond the exchange under way, are
// stashed: never more than kStashBytes plus one feed. When the connection becomes a tunnel, an opaque codec moves its
// bytes. Owned by the connection; one thread. Made by makeH1ServerCodec() and makeH1ClientCodec() in codec.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/codec.h"
#include "proxy/http/h1/h1_body_reader.h"
#include "proxy/http/h1/h1_head_writer.h"
#include "proxy/http/h1/h1_message_writer.h"
#include "proxy/http/h1/h1_parser.h"
#include "proxy/http/h1/h1_request_sections.h"
#include "proxy/http/opaque/opaque_codec.h"

namespace sluice::http {

/// The bytes that are read ahead, and the most that is asked for while a head is awaited.
inline constexpr std::size_t kStashBytes = 64 * 1024;

class H1ServerCodec final : public ServerCodec {
 public:
  H1ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits, ServerTerms terms, HeadAccount* heads,
                KnownAuthorities* authorities);

  void feed(std::string_view bytes) override;
  void feedEnd() override;
  Departure departure(std::size_t unread) const override;
  void feedLost() override;
  void expireHead() override;
  void resume() override;
  bool wantsResume() const override { return reading_ == Reading::kHead && !stash_.empty(); }
  void sendInterim(StreamId stream, const ResponseHead& head) override;
  void sendResponse(StreamId stream, const ResponseHead& head) override;
  void wake(StreamId stream) override;
  void reset(StreamId stream, ResetReason reason) override;
  void grant(StreamId stream, std::size_t count) override;
  void widen(StreamId stream) override { grant(stream, withheldOfWindow(limits_)); }
  void dismiss(StreamId stream) override;
  void produce(base::ByteQueue& out, std::size_t limit) override;
  bool wantsProduce() const override { return out_.wantsProduce() || (tunnel_ && tunnel_->wantsProduce()); }
  void drain() override;
  void announceEnd() override { closeAfter_ = true; }
  std::size_t readBudget() const override;
  CodecState state() const override;
  bool abortive() const override { return tunnel_ ? tunnel_->abortive() : abortive_; }
  bool halfClosed() const override { return tunnel_ && tunnel_->halfClosed(); }
  std::size_t activeStreams() const override;
  bool headPending() const override { return reading_ == Reading::kHead && sections_.pending(); }
  Version version() const override { return version_; }

 private:
  enum class Reading : std::uint8_t {
    kHead,    // awaits a request
    kBody,    // reads its body
    kDone,    // has read all of it: the bytes behind it belong to the next one
    kStopped  // takes nothing any more
  };
  using Writing = H1MessageWriter::State;

  void read(std::string_view& input);
  void readHead(std::string_view& input);
  bool readBody(std::string_view& input);
  void readStash();
  void openRequest(RequestMessage&& message, std::span<char> section, const H1LineEnds& ends);
  void refuseHead(const base::Error& error);
  void failBody(const base::Error& error);
  void settleEnd();
  void openTunnel(const ResponseHead& head);
  void failResponse();
  void finishExchange();
  void stop();
  /// Ends the connection at once. Returns the exchange that it ends; kNoToken if there is none.
  Token abort();
  bool isCurrent(StreamId stream) const { return stream == stream_ && token_ != kNoToken; }

  ServerSink& sink_;
  KnownAuthorities* const authorities_;
  MessageBounds limits_;
  H1RequestSections sections_;
  H1BodyReader body_;
  H1MessageWriter out_;
  base::ByteQueue stash_;                      // not yet looked at
  std::unique_ptr<OpaqueServerCodec> tunnel_;  // set once the connection is a tunnel and takes no more HTTP
  Token token_ = kNoToken;
  StreamId stream_ = 0;
  Reading reading_ = Reading::kHead;
  Version version_ = Version::kHttp11;  // of the last request
  Tunnel asked_ = Tunnel::kNone;        // by the request under way
  const ServerTerms terms_;
  bool headRequest_ : 1 = false;
  bool statesKeepAlive_ : 1 = false;  // the response under way says that the connection is kept
  bool closeAfter_ : 1 = false;       // the exchange under way is the last one
  bool expecting_ : 1 = false;        // the client was to get a 100 before it sends the body, and has not got it
  bool inputEnded_ : 1 = false;
  bool abortive_ : 1 = false;
};

class H1ClientCodec final : public ClientCodec {
 public:
  H1ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits);

  std::size_t availableStreams() const override { return state() == CodecState::kOpen && token_ == kNoToken ? 1 : 0; }
  StreamId sendRequest(Token token, const RequestHead& head, Scheme scheme) override;
  void wake(StreamId stream) override;
  void reset(StreamId stream, ResetReason reason) override;
  void grant(StreamId stream, std::size_t count) override;
  void widen(StreamId stream) override { grant(stream, withheldOfWindow(limits_)); }
  void feed(std::string_view bytes) override;
  void feedEnd(bool clean) override;
  void feedLost(const base::Error& error) override;
  void produce(base::ByteQueue& out, std::size_t limit) override;
  bool wantsProduce() const override {
    return out_.wantsProduce() || (tunnel() != nullptr && tunnel()->wantsProduce());
  }
  void drain() override;
  std::size_t readBudget() const override;
  CodecState state() const override;
  bool peerLeaves() const override { return closeAfter_; }
  base::Duration keepAlive() const override { return keepAlive_; }
  bool abortive() const override { return tunnel() != nullptr ? tunnel()->abortive() : abortive_; }
  bool halfClosed() const override { return tunnel() != nullptr && tunnel()->halfClosed(); }
  std::size_t activeStreams() const override;
  Version version() const override { return Version::kHttp11; }

 private:
  enum class Reading : std::uint8_t {
    kNothing,  // no request was sent, so the backend may send nothing
    kHead,     // awaits the response, or the next one behind a 1xx
    kBody,
    kStopped
  };
  using Writing = H1MessageWriter::State;
  enum class InputEnd : std::uint8_t { kOpen, kClean, kBroken };

  void read(std::string_view& input);
  void readHead(std::string_view& input);
  bool readBody(std::string_view& input);
  void readStash();
  void openResponse(ResponseMessage&& message, std::span<char> section, const H1LineEnds& ends);
  void passInterim(ResponseMessage&& message);
  OpaqueClientCodec* tunnel() const { return seldom_ ? seldom_->tunnel.get() : nullptr; }
  bool tunnelAsked() const { return seldom_ && seldom_->asked != Tunnel::kNone; }
  void openTunnel(ResponseMessage&& message, const RawResponse& raw);
  void declineTunnel();
  void endResponse();
  void fail(const base::Error& error, bool unprocessed = false);
  void failWith(const H1Fault& fault);
  void settleEnd();
  void failRequest();
  void stop();
  bool isCurrent(StreamId stream) const { return stream == stream_ && token_ != kNoToken; }

  ClientSink& sink_;
  MessageBounds limits_;
  H1SectionReader sections_;
  H1BodyReader body_;
  H1MessageWriter out_;
  base::ByteQueue stash_;
  /// State that hardly any connection needs.
  struct Seldom {
    std::optional<base::Error> lost;  // why the connection broke, if the transport knows better than this codec
    Tunnel asked = Tunnel::kNone;     // the tunnel that is asked for, until the answer is here
    std::string proof;                // the proof with which the answer agrees
    bool successOpens = false;        // the client would take any success for a tunnel
    std::unique_ptr<OpaqueClientCodec> tunnel;  // set once the connection is a tunnel and takes no more HTTP
  };
  std::unique_ptr<Seldom> seldom_;
  Token token_ = kNoToken;
  StreamId stream_ = 0;
  std::uint32_t interims_ = 0;
  Method method_ = Method::kGet;
  Reading reading_ = Reading::kNothing;
  InputEnd inputEnd_ = InputEnd::kOpen;
  base::Duration keepAlive_ = base::Duration::max();
  bool handedOver_ = false;      // produce() has given away bytes of the request: the backend may act on them
  bool closeAfter_ : 1 = false;  // the exchange under way is the last one
  bool expecting_ : 1 = false;   // the backend was asked for a 100 before the body, and has not sent it
  bool bodyBegun_ : 1 = false;   // produce() has given away bytes of the body
  bool abortive_ : 1 = false;
};

}  // namespace sluice::http

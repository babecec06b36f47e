// HTTP/1.x codecs (RFC 9112): state machines over bytes, one message each way at a time, for persistent connections.
//
// Both share their parts: H1SectionReader finds heads, H1BodyReader and H1BodyWriter move bodies. Idle, they hold no
// memory but themselves. What is beyond the credit, or beyond the exchange under way, is stashed: never more than
// kStashBytes plus one feed. Owned by the connection; one thread. Made by makeH1ServerCodec() and makeH1ClientCodec()
// in codec.h.
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
#include "proxy/http/h1/h1_body_writer.h"
#include "proxy/http/h1/h1_head_writer.h"
#include "proxy/http/h1/h1_parser.h"

namespace sluice::http {

/// Bytes read ahead, and the most that is asked for while a head is awaited.
inline constexpr std::size_t kStashBytes = 64 * 1024;

class H1ServerCodec final : public ServerCodec {
 public:
  H1ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits, bool https);

  void feed(std::string_view bytes) override;
  void feedEnd() override;
  bool hasLeft(std::size_t unread) const override;
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
  // HTTP/1.1 has no windows.
  bool isHeldBack(StreamId /*stream*/) const override { return false; }
  void dismiss(StreamId stream) override;
  void produce(base::ByteQueue& out, std::size_t limit) override;
  bool wantsProduce() const override;
  void drain() override;
  std::size_t readBudget() const override;
  CodecState state() const override;
  bool abortive() const override { return abortive_; }
  bool halfClosed() const override { return tunnel_ && writing_ == Writing::kComplete && reading_ == Reading::kBody; }
  std::size_t activeStreams() const override { return token_ != kNoToken || headPending() ? 1 : 0; }
  bool headPending() const override { return reading_ == Reading::kHead && sections_.pending(); }
  Version version() const override { return version_; }

 private:
  enum class Reading : std::uint8_t {
    kHead,    // awaits a request
    kBody,    // reads its body
    kDone,    // has read all of it: what follows belongs to the next one
    kStopped  // takes nothing any more
  };
  enum class Writing : std::uint8_t {
    kNothing,   // no response was begun
    kBody,      // its head is queued, its body is taken from the pipe
    kComplete,  // all of it is queued
    kFailed     // it can not be completed: produce() reports that
  };

  void read(std::string_view& input);
  void readHead(std::string_view& input);
  bool readBody(std::string_view& input);
  void readStash();
  void openRequest(RequestMessage&& message, std::span<char> section);
  void endRequest(std::optional<Trailers>&& trailers);
  void refuseHead(const base::Error& error);
  void failBody(const base::Error& error);
  void settleEnd();
  bool endsEarly(const ResponseHead& head);
  H1Announcement announce(const ResponseHead& head) const;
  void openTunnel(const ResponseHead& head);
  void writeBody(base::ByteQueue& out, std::size_t limit);
  void failResponse();
  void endStream(const base::Error& error);
  void finishExchange();
  void stop();
  void abort();
  bool isCurrent(StreamId stream) const { return stream == stream_ && token_ != kNoToken; }

  ServerSink& sink_;
  Limits limits_;
  H1SectionReader sections_;
  H1BodyReader body_;
  H1BodyWriter writer_;
  base::ByteQueue stash_;  // not yet looked at
  base::ByteQueue out_;    // heads
  Token token_ = kNoToken;
  StreamId stream_ = 0;
  Reading reading_ = Reading::kHead;
  Writing writing_ = Writing::kNothing;
  Version version_ = Version::kHttp11;  // of the last request
  bool https_ : 1;
  bool headRequest_ : 1 = false;
  bool closeAfter_ : 1 = false;  // the exchange under way is the last one
  bool inputEnded_ : 1 = false;
  bool woken_ : 1 = false;  // the pipe may have something
  bool abortive_ : 1 = false;
  bool tunnelAsked_ : 1 = false;  // the request under way asks for one
  bool tunnel_ : 1 = false;       // there is one: the exchange under way is the last, and its bodies are all that moves
};

class H1ClientCodec final : public ClientCodec {
 public:
  H1ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits);

  std::size_t availableStreams() const override { return state() == CodecState::kOpen && token_ == kNoToken ? 1 : 0; }
  StreamId sendRequest(Token token, const RequestHead& head, std::string_view scheme) override;
  void wake(StreamId stream) override;
  void cancel(StreamId stream, ResetReason reason) override;
  void grant(StreamId stream, std::size_t count) override;
  void widen(StreamId stream) override { grant(stream, withheldOfWindow(limits_)); }
  void feed(std::string_view bytes) override;
  void feedEnd(bool clean) override;
  void feedLost(const base::Error& error) override;
  void produce(base::ByteQueue& out, std::size_t limit) override;
  bool wantsProduce() const override;
  void drain() override;
  std::size_t readBudget() const override;
  CodecState state() const override;
  bool abortive() const override { return abortive_; }
  bool halfClosed() const override { return tunnel_ && writing_ == Writing::kNothing && token_ != kNoToken; }
  std::size_t activeStreams() const override { return token_ != kNoToken ? 1 : 0; }
  Version version() const override { return Version::kHttp11; }

 private:
  enum class Reading : std::uint8_t {
    kNothing,  // no request was sent: whatever comes is junk
    kHead,     // awaits the response, or the next one behind a 1xx
    kBody,
    kStopped
  };
  enum class Writing : std::uint8_t {
    kNothing,   // no request, or all of it was handed over
    kHeld,      // its head is queued; whether it is a tunnel, the response says
    kBody,      // its head is queued, its body is taken from the pipe
    kComplete,  // all of it is queued
    kFailed     // it can not be sent: produce() reports that
  };
  enum class InputEnd : std::uint8_t { kOpen, kClean, kBroken };

  void read(std::string_view& input);
  void readHead(std::string_view& input);
  bool readBody(std::string_view& input);
  void readStash();
  void openResponse(ResponseMessage&& message, std::span<char> section);
  void passInterim(ResponseMessage&& message);
  bool tunnelAsked() const { return seldom_ && !seldom_->accept.empty(); }
  void openTunnel(ResponseMessage&& message, const RawResponse& raw);
  void declineTunnel();
  void endResponse();
  void endTunnelInput();
  void fail(const base::Error& error, bool unprocessed = false);
  void failWith(const H1Fault& fault);
  void settleEnd();
  void writeBody(base::ByteQueue& out, std::size_t limit);
  void failRequest();
  void stop();
  bool isCurrent(StreamId stream) const { return stream == stream_ && token_ != kNoToken; }

  ClientSink& sink_;
  Limits limits_;
  H1SectionReader sections_;
  H1BodyReader body_;
  H1BodyWriter writer_;
  base::ByteQueue stash_;
  base::ByteQueue out_;
  /// What hardly any connection needs.
  struct Seldom {
    std::optional<base::Error> lost;  // why the connection broke, if somebody knows better than we do
    std::string accept;               // what agrees to the tunnel that is asked for, until the answer is here
    bool successOpens = false;        // the client would take any success for a tunnel
  };
  std::unique_ptr<Seldom> seldom_;
  Token token_ = kNoToken;
  StreamId stream_ = 0;
  std::uint32_t interims_ = 0;
  Method method_ = Method::kGet;
  Reading reading_ = Reading::kNothing;
  Writing writing_ = Writing::kNothing;
  InputEnd inputEnd_ = InputEnd::kOpen;
  bool handedOver_ = false;      // produce() has given away bytes of the request: the backend may act on them
  bool closeAfter_ : 1 = false;  // the exchange under way is the last one
  bool woken_ : 1 = false;
  bool abortive_ : 1 = false;
  bool tunnel_ : 1 = false;
};

}  // namespace sluice::http

// HTTP/2 towards backends (RFC 9113): turns heads and pipes into requests, and received frames into checked responses.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_decimal.h"
#include "proxy/http/h2/h2_session.h"
#include "proxy/http/hygiene.h"

namespace sluice::http {
namespace {

class H2ClientCodec final : public ClientCodec, private H2Events {
 public:
  H2ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits, const base::Clock& clock,
                H2Memory* memory)
      : session_(H2Side::kClient, *this, pool, limits, clock, memory), sink_(sink) {}

  std::size_t availableStreams() const override {
    if (session_.closed() || draining_ || session_.peerSaidGoaway()) return 0;
    const std::size_t allowed = std::min<std::size_t>(session_.peerConcurrency(), session_.idsLeft());
    return allowed - std::min(allowed, session_.liveStreams());
  }

  StreamId sendRequest(Token token, const RequestHead& head, Scheme scheme) override {
    if (availableStreams() == 0 || head.body == Body::kTunnel) return 0;
    H2Stream& stream = session_.streams().add(0);
    stream.token = token;
    stream.method = head.method;
    stream.send = H2Stream::Send::kQueued;
    if (submit(stream, head, scheme)) return stream.id;
    session_.streams().remove(stream);
    unsendable_.push_back({token, nextUnsendable_});
    return nextUnsendable_++;
  }

  void wake(StreamId id) override { session_.sender().wake(id); }
  void reset(StreamId id, ResetReason reason) override {
    std::erase_if(unsendable_, [id](const Unsendable& request) { return request.id == id; });
    session_.sender().reset(id, reason);
  }
  void grant(StreamId id, std::size_t count) override { session_.receiver().grant(id, count); }
  void widen(StreamId id) override { session_.receiver().widen(id); }

  void feed(std::string_view bytes) override {
    session_.feed(bytes);
    sayGoodbyeIfDone();
  }
  void feedEnd(bool) override { session_.end(std::nullopt); }
  void feedLost(const base::Error& error) override {
    lost_ = &error;
    session_.end(std::nullopt);
    lost_ = nullptr;
  }
  void produce(base::ByteQueue& out, std::size_t limit) override {
    reportUnsendable();
    session_.produce(out, limit);
    if (session_.sender().resetsSent() >= mostResets()) draining_ = true;
    if (sayGoodbyeIfDone()) session_.produce(out, limit);
  }
  bool wantsProduce() const override { return session_.hasOutput() || !unsendable_.empty(); }
  void drain() override {
    draining_ = true;
    sayGoodbyeIfDone();
  }

  std::size_t readBudget() const override { return session_.budget(); }
  CodecState state() const override {
    if (session_.closed()) return CodecState::kClosed;
    return draining_ || session_.peerSaidGoaway() || session_.idsLeft() == 0 ? CodecState::kDraining
                                                                             : CodecState::kOpen;
  }
  bool peerLeaves() const override { return session_.peerSaidGoaway(); }
  void ping() override { session_.sender().submitPing(); }
  std::uint64_t pingsAnswered() const override { return pingsAnswered_; }
  std::size_t activeStreams() const override { return session_.liveStreams(); }
  Version version() const override { return Version::kHttp2; }

 private:
  using Receive = H2Stream::Receive;
  using Line = H2Sender::ControlLine;
  // A request whose head cannot be encoded. The next produce() reports it, because a call from the owner must not call
  // the owner back.
  struct Unsendable {
    Token token;
    StreamId id;
  };

  // Backends count cancelled requests, as our own server side does, and end a connection for them, also for the other
  // clients that share it. Requests in flight may be cancelled too, so the connection is left at half of the number
  // that we would tolerate ourselves.
  std::uint32_t mostResets() const { return std::max(session_.limits().resetsPerMinute / 2, 1U); }

  bool submit(H2Stream& stream, const RequestHead& head, Scheme scheme) {
    std::array<Line, 7> control{Line{":method", head.methodText}};
    std::size_t lines = 1;
    if (head.method != Method::kConnect) {
      control[lines++] = {":scheme", schemeName(scheme)};
      control[lines++] = {":path", head.target};
    }
    if (!head.authority.empty()) control[lines++] = {":authority", head.authority};
    const Decimal length(head.contentLength);
    if (head.body == Body::kLength) control[lines++] = {"content-length", length.text()};
    if (head.acceptsTrailers) control[lines++] = {"te", "trailers"};
    if (head.expectContinue) control[lines++] = {"expect", "100-continue"};
    return session_.sender().submitRequest(stream, {control.data(), lines}, head);
  }

  void reportUnsendable() {
    for (const Unsendable& request : std::exchange(unsendable_, {})) {
      sink_.onResponseReset(request.token, base::Error::internal("a field of the request cannot be sent"), false);
    }
  }

  bool sayGoodbyeIfDone() {
    if (!draining_ || session_.closed() || session_.liveStreams() > 0 || saidGoodbye_) return false;
    saidGoodbye_ = true;
    session_.sender().submitGoaway(false);
    return true;
  }

  void headArrived(H2Stream& stream, bool endOfStream) override {
    if (stream.token == kNoToken || stream.receive == Receive::kDiscard) return;
    if (session_.section().excess()) {
      sink_.onLimitHit(*session_.section().excess());
      return fail(
          stream,
          protocolError("the response's field section is too large").ofLimit(limitName(*session_.section().excess())));
    }
    if (stream.receive != Receive::kHead) return trailersArrived(stream);
    ResponseMessage message(session_.pool());
    message.arena = std::move(session_.section().arena);
    const RawResponse raw{session_.section().status, session_.section().fields, Version::kHttp2, endOfStream};
    bool closes = false;
    base::Result<ResponseHead> head = checkResponse(message.arena, raw, stream.method, closes);
    if (!head) return fail(stream, std::move(head.error()));
    message.head = *std::move(head);
    if (raw.status < 200) {
      if (endOfStream) return fail(stream, "an informational response ended the stream");
      return interimArrived(stream, std::move(message));
    }
    const bool hasBody = message.head.body != Body::kNone;
    if (message.head.body != Body::kUntilEnd) stream.length.announce(hasBody ? *message.head.contentLength : 0);
    stream.receive = endOfStream ? Receive::kDone : hasBody ? Receive::kBody : Receive::kDiscard;
    sink_.onResponse(stream.token, std::move(message));
    if (endOfStream && hasBody) sink_.onResponseEnd(stream.token);
  }

  void interimArrived(H2Stream& stream, ResponseMessage&& message) {
    if (++stream.interims > session_.limits().informationalResponses) {
      sink_.onLimitHit(Limit::kInformationalResponses);
      return fail(stream,
                  protocolError("too many informational responses").ofLimit(limitName(Limit::kInformationalResponses)));
    }
    sink_.onInterim(stream.token, std::move(message));
  }

  void trailersArrived(H2Stream& stream) {
    Trailers trailers(session_.pool());
    trailers.arena = std::move(session_.section().arena);
    trailers.fields = session_.section().fields;
    if (!checkTrailers(trailers.fields)) return fail(stream, "the response's trailers are malformed");
    stream.receive = Receive::kDone;
    sink_.onResponseEnd(stream.token, std::move(trailers));
  }

  void bodyArrived(H2Stream& stream, std::string_view bytes) override { sink_.onResponseBody(stream.token, bytes); }
  void bodyEnded(H2Stream& stream) override {
    const bool wanted = std::exchange(stream.receive, Receive::kDone) == Receive::kBody;
    if (wanted && stream.token != kNoToken) sink_.onResponseEnd(stream.token);
  }
  BodyPipe* pipeOf(Token token) override { return sink_.requestBody(token); }
  void bytesTaken(Token token, std::size_t count) override { sink_.onRequestBodyTaken(token, count); }
  void sendEnded(H2Stream& stream) override {
    if (stream.token != kNoToken) sink_.onRequestSent(stream.token);
  }
  void streamLost(H2Stream& stream, const H2Loss& loss) override {
    const bool responseComplete = stream.receive == Receive::kDone || stream.receive == Receive::kDiscard;
    if (!responseComplete) sink_.onResponseReset(stream.token, errorOf(stream, loss), loss.unprocessed);
  }
  void limitHit(Limit limit) override { sink_.onLimitHit(limit); }
  void pinged() override { ++pingsAnswered_; }

  void fail(H2Stream& stream, const char* why) {
    fail(stream, base::Error::upstream(base::ErrorType::kHttpProtocolError, why));
  }
  void fail(H2Stream& stream, const base::Error& error) {
    sink_.onResponseReset(stream.token, error, false);
    stream.detach();
    session_.sender().submitReset(stream, H2ErrorCode::kProtocolError);
  }

  base::Error errorOf(const H2Stream& stream, const H2Loss& loss) const {
    using base::ErrorType;
    if (stream.failure != nullptr) return base::Error::internal(stream.failure);
    if (loss.connectionLost && lost_ != nullptr) return *lost_;
    if (loss.connectionLost)
      return base::Error::upstream(ErrorType::kConnectionTerminated, "the backend's connection ended");
    if (loss.unprocessed)
      return base::Error::upstream(ErrorType::kConnectionTerminated, "the backend refused the stream");
    if (stream.resetByPeer)
      return base::Error::upstream(ErrorType::kConnectionTerminated, "the backend reset the stream");
    if (stream.resetByUs) return base::Error::internal("the stream was reset");
    return base::Error::upstream(ErrorType::kHttpProtocolError, "the response broke the protocol of HTTP/2");
  }

  H2Session session_;
  ClientSink& sink_;
  const base::Error* lost_ = nullptr;  // why the connection is being lost, while feedLost() notifies the streams
  std::vector<Unsendable> unsendable_;
  // Never the id of an HTTP/2 stream: those have 31 bits.
  StreamId nextUnsendable_ = 0x80000000U;
  std::uint64_t pingsAnswered_ = 0;
  bool draining_ = false;
  bool saidGoodbye_ = false;
};

}  // namespace

std::unique_ptr<ClientCodec> makeH2ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               const base::Clock& clock, H2Memory* memory) {
  return std::make_unique<H2ClientCodec>(sink, pool, limits, clock, memory);
}

}  // namespace sluice::http

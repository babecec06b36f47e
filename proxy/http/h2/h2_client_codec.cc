// HTTP/2 towards backends (RFC 9113): turns heads and pipes into requests, and received frames into checked responses.

#include <algorithm>
#include <utility>

#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_requests.h"
#include "proxy/http/h2/h2_session.h"
#include "proxy/http/hygiene.h"

namespace sluice::http {
namespace {

// Backends count cancelled requests, as our own server side does, and end a connection for them, also for the other
// clients that share it. Requests in flight may be cancelled too, so the connection is left at half of the number that
// we would tolerate ourselves.
std::uint32_t mostResets(const Limits& limits) { return std::max(limits.resetsPerMinute / 2, 1U); }

base::Error brokenH2Response(const char* why) {
  return base::Error::upstream(base::ErrorType::kHttpProtocolError, why);
}

class H2ClientCodec final : public ClientCodec, private H2Events {
 public:
  H2ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits, const base::Clock& clock,
                H2Memory* memory)
      : session_(H2Side::kClient, *this, pool, limits, clock, memory), sink_(sink), requests_(session_, sink) {}

  std::size_t availableStreams() const override {
    if (session_.closed() || draining_ || session_.peerSaidGoaway()) return 0;
    const std::size_t allowed = std::min<std::size_t>(session_.peerConcurrency(), session_.idsLeft());
    return allowed - std::min(allowed, activeStreams());
  }

  StreamId sendRequest(Token token, const RequestHead& head, Scheme scheme) override {
    return availableStreams() == 0 ? 0 : requests_.send(token, head, scheme);
  }

  void wake(StreamId id) override { session_.sender().wake(requests_.streamOf(id)); }
  void reset(StreamId id, ResetReason reason) override { session_.sender().reset(requests_.forget(id), reason); }
  void grant(StreamId id, std::size_t count) override { session_.grant(requests_.streamOf(id), count); }
  void widen(StreamId id) override { session_.widen(requests_.streamOf(id)); }

  void feed(std::string_view bytes) override {
    session_.feed(bytes);
    requests_.loseIfOver(lost_);
    sayGoodbyeIfDone();
  }
  void feedEnd(bool) override {
    session_.end(std::nullopt);
    requests_.loseIfOver(lost_);
  }
  void feedLost(const base::Error& error) override {
    lost_ = &error;
    session_.end(std::nullopt);
    requests_.loseIfOver(lost_);
    lost_ = nullptr;
  }
  void produce(base::ByteQueue& out, std::size_t limit) override {
    if (requests_.due()) requests_.settle();
    session_.produce(out, limit);
    requests_.loseIfOver(lost_);
    if (session_.sender().resetsSent() >= mostResets(session_.limits())) draining_ = true;
    if (sayGoodbyeIfDone()) session_.produce(out, limit);
  }
  bool wantsProduce() const override { return session_.hasOutput() || requests_.due(); }
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
  std::size_t activeStreams() const override { return session_.liveStreams() + requests_.waiting(); }
  bool awaitsSettings() const override { return requests_.waiting() > 0 && !session_.receiver().settingsArrived(); }
  void refuseWaiting(const base::Error& error) override {
    requests_.refuseWaiting(error);
    sayGoodbyeIfDone();
  }
  Version version() const override { return Version::kHttp2; }

 private:
  using Receive = H2Stream::Receive;

  bool sayGoodbyeIfDone() {
    if (!draining_ || session_.closed() || activeStreams() > 0 || saidGoodbye_) return false;
    saidGoodbye_ = true;
    session_.sender().submitGoaway(false);
    return true;
  }

  void headArrived(H2Stream& stream, bool endOfStream) override {
    if (stream.token == kNoToken || stream.receive == Receive::kDiscard) return;
    if (session_.section().excess()) {
      sink_.onLimitHit(*session_.section().excess());
      return fail(stream, brokenH2Response("the response's field section is too large")
                              .ofLimit(limitName(*session_.section().excess())));
    }
    if (stream.receive != Receive::kHead) return trailersArrived(stream);
    ResponseMessage message(session_.pool());
    message.arena = std::move(session_.section().arena);
    const RawResponse raw{session_.section().status, session_.section().fields, Version::kHttp2, endOfStream};
    if (stream.awaitsAgreement && raw.status / 100 == 2) return tunnelAgreed(stream, raw, std::move(message));
    bool closes = false;
    base::Result<ResponseHead> head = checkResponse(message.arena, raw, stream.method, closes);
    if (!head) return fail(stream, std::move(head.error()));
    message.head = *std::move(head);
    if (raw.status < 200) {
      if (endOfStream) return fail(stream, "an informational response ended the stream");
      return interimArrived(stream, std::move(message));
    }
    if (stream.awaitsAgreement) {  // no tunnel begins, and the request was complete with its head
      session_.sender().endWithoutBody(stream);
      sink_.onRequestSent(stream.token);
    }
    const bool hasBody = message.head.body != Body::kNone;
    if (message.head.body != Body::kUntilEnd) stream.length.announce(hasBody ? *message.head.contentLength : 0);
    stream.receive = endOfStream ? Receive::kDone : hasBody ? Receive::kBody : Receive::kDiscard;
    sink_.onResponse(stream.token, std::move(message));
    if (endOfStream && hasBody) sink_.onResponseEnd(stream.token);
  }

  /// Called with any 2xx. From here on DATA is the tunnel's, both ways.
  void tunnelAgreed(H2Stream& stream, const RawResponse& raw, ResponseMessage&& message) {
    const H2Requests::SentTunnel& asked = requests_.tunnelOn(stream.id);
    base::Result<ResponseHead> head = checkAgreement(message.arena, raw, asked.kind, asked.proof);
    if (!head) return fail(stream, std::move(head.error()));
    message.head = *std::move(head);
    stream.awaitsAgreement = false;
    stream.receive = raw.endOfStream ? Receive::kDone : Receive::kBody;
    sink_.onResponse(stream.token, std::move(message));
    if (raw.endOfStream) sink_.onResponseEnd(stream.token);
    session_.sender().wake(stream.id);
  }

  void interimArrived(H2Stream& stream, ResponseMessage&& message) {
    if (++stream.interims > session_.limits().informationalResponses) {
      sink_.onLimitHit(Limit::kInformationalResponses);
      return fail(
          stream,
          brokenH2Response("too many informational responses").ofLimit(limitName(Limit::kInformationalResponses)));
    }
    sink_.onInterim(stream.token, std::move(message));
  }

  void trailersArrived(H2Stream& stream) {
    Trailers trailers(session_.pool());
    trailers.arena = std::move(session_.section().arena);
    trailers.fields = session_.section().fields;
    if (stream.isOpenTunnel()) return fail(stream, "a tunnel ended with trailers");
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
    if (!responseComplete) return sink_.onResponseReset(stream.token, errorOf(stream, loss), loss.unprocessed);
    // The backend had ended its way of the tunnel, and takes no more of the client's.
    if (stream.isOpenTunnel() && stream.send != H2Stream::Send::kDone) sink_.onRequestSent(stream.token);
  }
  void limitHit(Limit limit) override { sink_.onLimitHit(limit); }
  void pinged() override { ++pingsAnswered_; }

  void fail(H2Stream& stream, const char* why) { fail(stream, brokenH2Response(why)); }
  void fail(H2Stream& stream, const base::Error& error) {
    sink_.onResponseReset(stream.token, error, false);
    stream.detach();
    session_.sender().submitReset(stream, H2ErrorCode::kProtocolError);
  }

  base::Error errorOf(const H2Stream& stream, const H2Loss& loss) const {
    using base::ErrorType;
    if (stream.failure != nullptr) return base::Error::internal(stream.failure);
    if (loss.connectionLost && lost_ != nullptr) return *lost_;
    if (loss.connectionLost) return h2ConnectionEnded();
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
  H2Requests requests_;
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

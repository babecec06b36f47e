// HTTP/2 towards clients (RFC 9113): turns received frames into checked requests, and heads and pipes into responses.

#include <array>
#include <utility>

#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_decimal.h"
#include "proxy/http/h2/h2_malformed.h"
#include "proxy/http/h2/h2_session.h"
#include "proxy/http/hygiene.h"

namespace sluice::http {
namespace {

base::Error requestErrorOf(const H2Stream& stream, const H2Loss& loss) {
  using base::ErrorOrigin;
  using base::ErrorType;
  if (stream.failure != nullptr) return base::Error::internal(stream.failure);
  if (loss.connectionLost) {
    return {ErrorType::kConnectionTerminated, ErrorOrigin::kDownstream, "the client's connection ended"};
  }
  if (stream.resetByPeer)
    return {ErrorType::kConnectionTerminated, ErrorOrigin::kDownstream, "the client reset the stream"};
  if (stream.resetByUs) return base::Error::internal("the stream was reset");
  return base::Error::badRequest(400, "the request broke the protocol of HTTP/2");
}

class H2ServerCodec final : public ServerCodec, private H2Events {
 public:
  H2ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits, ServerTerms terms,
                const base::Clock& clock, H2Memory* memory, HeadAccount* heads, KnownAuthorities* authorities)
      : session_(H2Side::kServer, *this, pool, limits, clock, memory, heads),
        sink_(sink),
        authorities_(authorities),
        terms_(terms) {}

  void feed(std::string_view bytes) override {
    heardPeer_ = heardPeer_ || !bytes.empty();
    session_.feed(bytes);
  }
  void resume() override { session_.resume(); }
  bool wantsResume() const override { return session_.pauses(); }
  // Half a connection is of no use in HTTP/2: a client that has ended its side is gone.
  void feedEnd() override { session_.end(std::nullopt); }
  Departure departure(std::size_t /*unread*/) const override { return Departure::kLeft; }
  void feedLost() override { session_.end(std::nullopt); }
  void expireHead() override { session_.end(H2ErrorCode::kNoError); }

  void sendInterim(StreamId id, const ResponseHead& head) override { respond(id, head, Head::kInterim); }
  void sendResponse(StreamId id, const ResponseHead& head) override {
    respond(id, head, head.body == Body::kNone ? Head::kLast : Head::kBeforeBody);
  }
  void wake(StreamId id) override { session_.sender().wake(id); }
  void reset(StreamId id, ResetReason reason) override { session_.sender().reset(id, reason); }
  void grant(StreamId id, std::size_t count) override { session_.grant(id, count); }
  void widen(StreamId id) override { session_.widen(id); }
  bool isHeldBack(StreamId id) const override { return session_.sender().isBlocked(id); }
  void dismiss(StreamId id) override {
    H2Stream* stream = session_.closed() ? nullptr : session_.find(id);
    if (stream == nullptr || !stream->isTunnel() || stream->receive != Receive::kBody) return;
    stream->receive = Receive::kDiscard;
    if (stream->sentWholeTunnel()) sendEnded(*stream);
  }

  void produce(base::ByteQueue& out, std::size_t limit) override { session_.produce(out, limit); }
  bool wantsProduce() const override { return session_.hasOutput(); }
  // The ping's answer shows that the notice has reached the client, so that no request in flight is refused
  // (section 6.8).
  void drain() override {
    if (draining_ || session_.closed()) return;
    draining_ = true;
    session_.sender().submitGoaway(true);
    session_.sender().submitPing();
  }

  // A client that gets GOAWAY before its first request might take the connection for a failed one.
  void announceEnd() override {
    endAnnounced_ = true;
    if (requested_) drain();
  }

  std::size_t readBudget() const override { return session_.budget(); }
  CodecState state() const override {
    if (session_.closed()) return CodecState::kClosed;
    return draining_ || session_.peerSaidGoaway() ? CodecState::kDraining : CodecState::kOpen;
  }
  std::size_t activeStreams() const override { return session_.liveStreams(); }
  bool headPending() const override {
    return !session_.closed() &&
           (session_.receiver().headIncomplete() || (heardPeer_ && !session_.receiver().settingsArrived()));
  }
  base::MonotonicTime drainedSince() const override {
    return session_.closed() ? base::MonotonicTime{} : session_.receiver().drain().since();
  }
  std::size_t endDrains(base::MonotonicTime since) override { return session_.receiver().drain().expire(since); }
  Version version() const override { return Version::kHttp2; }

 private:
  using Receive = H2Stream::Receive;
  using Head = H2Sender::Head;
  using Line = H2Sender::ControlLine;

  void headArrived(H2Stream& stream, bool endOfStream) override {
    if (stream.receive == Receive::kHead) {
      requestArrived(stream, endOfStream);
    } else {
      trailersArrived(stream);
    }
  }
  void bodyArrived(H2Stream& stream, std::string_view bytes) override { sink_.onRequestBody(stream.token, bytes); }
  void bodyEnded(H2Stream& stream) override {
    const bool wanted = std::exchange(stream.receive, Receive::kDone) == Receive::kBody;
    if (wanted && stream.token != kNoToken) sink_.onRequestEnd(stream.token);
    if (stream.sentWholeTunnel()) sendEnded(stream);
  }
  BodyPipe* pipeOf(Token token) override { return sink_.responseBody(token); }
  void bytesTaken(Token token, std::size_t count) override { sink_.onResponseBodyTaken(token, count); }
  void sendEnded(H2Stream& stream) override {
    // The client's way of a tunnel goes on.
    if (stream.isTunnel() && stream.receive == Receive::kBody) return;
    if (stream.token != kNoToken) sink_.onResponseSent(stream.token);
    if (stream.receive != Receive::kDone && !stream.isTunnel()) return session_.receiver().drain().begin(stream);
    stream.detach();
    // The other end of the tunnel takes nothing more.
    if (stream.receive != Receive::kDone) session_.sender().submitReset(stream, H2ErrorCode::kNoError);
  }
  void streamLost(H2Stream& stream, const H2Loss& loss) override {
    sink_.onRequestReset(stream.token, requestErrorOf(stream, loss), false);
  }
  void limitHit(Limit limit) override { sink_.onLimitHit(limit); }
  void pinged() override {
    if (draining_ && !std::exchange(saidGoodbye_, true)) session_.sender().submitGoaway(false);
  }

  void requestArrived(H2Stream& stream, bool endOfStream) {
    requested_ = true;
    if (endAnnounced_) drain();
    if (const std::optional<Limit> excess = session_.section().excess()) {
      sink_.onLimitHit(*excess);
      if (isHeadMemory(*excess)) return refuse(stream, noRoomForHead(*excess), endOfStream);
      base::Error error = base::Error::badRequest(431, "the request's header section is too large");
      return refuse(stream, std::move(error).ofLimit(limitName(*excess)), endOfStream);
    }
    if (session_.section().path.size() > session_.limits().requestLineBytes) {
      sink_.onLimitHit(Limit::kRequestLineBytes);
      base::Error error = base::Error::badRequest(414, "the request's path is too long");
      return refuse(stream, std::move(error).ofLimit(limitName(Limit::kRequestLineBytes)), endOfStream);
    }
    RequestMessage message(session_.pool());
    message.arena = std::move(session_.section().arena);
    message.charge = std::move(session_.section().charge);
    RawRequest raw{.method = session_.section().method,
                   .target = session_.section().path,
                   .scheme = session_.section().scheme,
                   .authority = session_.section().authority,
                   .protocol = session_.section().protocol,
                   .fields = session_.section().fields,
                   .version = Version::kHttp2,
                   .endOfStream = endOfStream,
                   .known = authorities_};
    if (const auto error = checkRequest(message.arena, raw, terms_, message.head))
      return refuse(stream, *error, endOfStream);
    if (!session_.section().priority.empty()) session_.sender().prioritize(stream, session_.section().priority);
    message.head.secretControl = session_.section().secretControl;
    const bool hasBody = message.head.body != Body::kNone;
    if (!hasBody || message.head.body == Body::kLength) stream.length.announce(message.head.contentLength);
    stream.method = message.head.body == Body::kTunnel ? Method::kConnect : message.head.method;
    stream.receive = endOfStream ? Receive::kDone : hasBody ? Receive::kBody : Receive::kDiscard;
    stream.token = sink_.onRequest(stream.id, std::move(message));
    if (stream.token == kNoToken) return session_.sender().submitReset(stream, H2ErrorCode::kRefusedStream);
    if (endOfStream && hasBody) sink_.onRequestEnd(stream.token);
  }

  // Leaves the answer to the owner, unless the request is malformed; the remaining bytes of the request are not read.
  void refuse(H2Stream& stream, const base::Error& error, bool endOfStream) {
    if (!session_.section().excess()) {
      if (isMalformedRequest(session_.section(), endOfStream)) return session_.receiver().refuseMalformed(stream);
      if (const auto length = announcedLength(session_.section())) stream.length.announce(*length);
    }
    stream.receive = endOfStream ? Receive::kDone : Receive::kDiscard;
    stream.token = sink_.onBadRequest(stream.id, error);
    if (stream.token == kNoToken) session_.sender().submitReset(stream, H2ErrorCode::kRefusedStream);
  }

  void trailersArrived(H2Stream& stream) {
    const bool wanted = std::exchange(stream.receive, Receive::kDone) == Receive::kBody;
    if (!wanted || stream.token == kNoToken) return;
    Trailers trailers(session_.pool());
    trailers.arena = std::move(session_.section().arena);
    trailers.charge = std::move(session_.section().charge);
    trailers.fields = session_.section().fields;
    const std::optional<Limit> excess = session_.section().excess();
    if (excess) sink_.onLimitHit(*excess);
    if (excess && isHeadMemory(*excess)) {
      sink_.onRequestReset(stream.token, noRoomForHead(*excess), false);
      stream.detach();
      return session_.sender().submitReset(stream, H2ErrorCode::kEnhanceYourCalm);
    }
    if (excess || !checkTrailers(trailers.fields)) {
      sink_.onRequestReset(stream.token, base::Error::badRequest(400, "the request's trailers cannot be accepted"),
                           false);
      stream.detach();
      return session_.sender().resetViolated(stream);
    }
    sink_.onRequestEnd(stream.token, std::move(trailers));
    if (stream.sentWholeTunnel()) sendEnded(stream);
  }

  void respond(StreamId id, const ResponseHead& head, Head kind) {
    if (session_.closed()) return;
    H2Stream* stream = session_.find(id);
    if (stream == nullptr || stream->resetByUs || stream->send == H2Stream::Send::kDone) return;
    const bool opens = head.body == Body::kTunnel;
    if (opens && !stream->isTunnel()) {
      stream->failure = "a tunnel that was not asked for";
      return session_.sender().submitReset(*stream, H2ErrorCode::kInternalError);
    }
    if (!opens && kind != Head::kInterim && stream->isTunnel()) stream->method = Method::kGet;
    Decimal status(opens ? 200 : head.status);  // RFC 8441 section 5
    std::array<Line, 2> control{Line{":status", status.text()}};
    std::size_t lines = 1;
    Decimal length(head.contentLength.value_or(0));
    if (head.contentLength) control[lines++] = {"content-length", length.text()};
    session_.sender().submitResponse(*stream, {control.data(), lines}, head.headers, kind);
  }

  H2Session session_;
  ServerSink& sink_;
  KnownAuthorities* const authorities_;
  ServerTerms terms_;
  bool heardPeer_ = false;
  bool requested_ = false;
  bool endAnnounced_ = false;
  bool draining_ = false;
  bool saidGoodbye_ = false;
};

}  // namespace

std::unique_ptr<ServerCodec> makeH2ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               ServerTerms terms, const base::Clock& clock, H2Memory* memory,
                                               HeadAccount* heads, KnownAuthorities* authorities) {
  return std::make_unique<H2ServerCodec>(sink, pool, limits, terms, clock, memory, heads, authorities);
}

}  // namespace sluice::http

#include <memory>
#include <utility>

#include "proxy/http/h1/h1_codec.h"

namespace sluice::http {
namespace {

using base::Error;

Error errorOf(const H1Fault& fault) {
  return Error::badRequest(fault.status, fault.why).ofLimit(fault.limit ? limitName(*fault.limit) : std::string_view());
}

// Returns whether the client will send another request on this connection (RFC 9112 section 9.3).
bool wantsToPersist(const RawRequest& request) {
  bool keepAlive = request.version == Version::kHttp11;
  for (const Field& field : request.fields) {
    if (field.id != FieldId::kConnection) continue;
    if (listHasToken(field.value, "close")) return false;
    keepAlive = keepAlive || listHasToken(field.value, "keep-alive");
  }
  return keepAlive;
}

H1Framing framingOf(const RequestHead& head) {
  switch (head.body) {
    case Body::kNone:
    case Body::kTunnel:
      return H1Framing::kNone;
    case Body::kLength:
      return H1Framing::kLength;
    case Body::kUntilEnd:
      return H1Framing::kChunked;
  }
  return H1Framing::kNone;
}

// Decides about framing and Content-Length (RFC 9112 section 6, RFC 9110 section 8.6). `answersHead`: the request's
// method is HEAD.
H1Announcement announcementOf(const ResponseHead& head, Version version, bool answersHead) {
  if (head.status == 204) return {};
  if (answersHead || head.status == 304) return {H1Framing::kNone, head.contentLength};
  switch (head.body) {
    case Body::kNone:
      return {H1Framing::kNone, 0};
    case Body::kLength:
      if (head.contentLength) return {H1Framing::kLength, head.contentLength};
      break;
    case Body::kUntilEnd:
    case Body::kTunnel:
      break;
  }
  return {version == Version::kHttp10 ? H1Framing::kUntilClose : H1Framing::kChunked, {}};
}

void reportLoss(ServerSink& sink, Token token, const Error& error) {
  if (token != kNoToken) sink.onRequestReset(token, error, false);
}

// Returns true if the whole response is there; `pipe` is null if its owner is gone.
bool isComplete(const ResponseHead& head, const BodyPipe* pipe) {
  return head.body == Body::kNone || (pipe != nullptr && pipe->end() == PipeEnd::kComplete);
}

// Reports that there is no room for the head or the trailers that arrive.
Error noRoom(ServerSink& sink, Limit reached) {
  sink.onLimitHit(reached);
  return noRoomForHead(reached);
}

}  // namespace

H1ServerCodec::H1ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits, ServerTerms terms,
                             HeadAccount* heads, KnownAuthorities* authorities)
    : sink_(sink),
      authorities_(authorities),
      limits_(limits),
      sections_(pool, limits_, heads),
      out_(pool),
      stash_(pool),
      terms_(terms) {}

void H1ServerCodec::feed(std::string_view bytes) {
  if (reading_ == Reading::kStopped) return tunnel_ ? tunnel_->feed(bytes) : void();
  const bool waits = wantsResume();
  if (stash_.empty()) read(bytes);
  if (reading_ == Reading::kStopped || bytes.empty()) return;
  stash_.append(bytes);
  if (!waits) readStash();
}

void H1ServerCodec::feedEnd() {
  if (reading_ == Reading::kStopped) return tunnel_ ? tunnel_->feedEnd() : void();
  inputEnded_ = true;
  settleEnd();
}

Departure H1ServerCodec::departure(std::size_t unread) const {
  if (token_ == kNoToken || out_.state() != Writing::kNothing) return Departure::kStays;
  const std::size_t behind = stash_.size() + unread;
  if (reading_ == Reading::kBody) return body_.mayEndWithin(behind) ? Departure::kStays : Departure::kLeft;
  return reading_ == Reading::kDone && behind == 0 ? Departure::kWaits : Departure::kStays;
}

void H1ServerCodec::feedLost() {
  if (tunnel_) return tunnel_->feedLost();
  reportLoss(sink_, abort(),
             Error(base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
                   "the client's connection was lost"));
}

void H1ServerCodec::expireHead() {
  if (!headPending()) return;
  headRequest_ = false;
  version_ = Version::kHttp11;
  refuseHead(Error::badRequest(408, "the request's head took too long").ofLimit("requestHeader"));
}

void H1ServerCodec::resume() {
  if (!stash_.empty()) readStash();
}

void H1ServerCodec::grant(StreamId stream, std::size_t count) {
  if (!isCurrent(stream) || reading_ != Reading::kBody) return tunnel_ ? tunnel_->grant(stream, count) : void();
  body_.grant(count);
  if (!stash_.empty()) readStash();
}

void H1ServerCodec::dismiss(StreamId stream) {
  if (tunnel_) tunnel_->dismiss(stream);
}

// Takes as much from the front of `input` as can be taken now.
void H1ServerCodec::read(std::string_view& input) {
  while (!input.empty()) {
    switch (reading_) {
      case Reading::kHead:
        readHead(input);
        break;
      case Reading::kBody:
        if (!readBody(input)) return;
        break;
      case Reading::kDone:
        return;
      case Reading::kStopped:
        input = {};
        return;
    }
  }
}

void H1ServerCodec::readStash() {
  while (!stash_.empty() && reading_ != Reading::kStopped) {
    std::string_view run = stash_.front();
    const std::size_t size = run.size();
    read(run);
    if (reading_ == Reading::kStopped) break;
    if (run.size() == size) return;
    stash_.consume(size - run.size());
  }
  if (reading_ == Reading::kStopped) stash_.clear();
  settleEnd();
}

void H1ServerCodec::readHead(std::string_view& input) {
  std::size_t used = 0;
  H1LineEnds ends;
  switch (sections_.scan(input, used, ends)) {
    case H1SectionReader::Status::kNeedMore:
      input = {};
      if (const std::optional<Limit> reached = sections_.chargeKept()) refuseHead(noRoom(sink_, *reached));
      return;
    case H1SectionReader::Status::kFailed: {
      const H1Fault& fault = sections_.fault();
      if (fault.limit) sink_.onLimitHit(*fault.limit);
      headRequest_ = false;
      version_ = Version::kHttp11;
      return refuseHead(errorOf(fault));
    }
    case H1SectionReader::Status::kComplete: {
      RequestMessage message(stash_.pool());
      const std::span<char> section = sections_.collect(message.arena, input.substr(0, used), ends);
      message.charge = std::move(sections_.charge);
      input.remove_prefix(used);
      return openRequest(std::move(message), section, ends);
    }
  }
}

void H1ServerCodec::openRequest(RequestMessage&& message, std::span<char> section, const H1LineEnds& ends) {
  RawRequest raw;
  raw.known = authorities_;
  const H1Fault fault = parseRequestHead(section, ends, sections_.fieldLines(), message.arena, raw);
  version_ = raw.version;
  headRequest_ = raw.method == "HEAD";
  if (fault) return refuseHead(Error::badRequest(fault.status, fault.why));
  const RequestHead& head = message.head;
  if (const auto error = checkRequest(message.arena, raw, terms_, message.head)) return refuseHead(*error);

  if (!wantsToPersist(raw)) closeAfter_ = true;
  statesKeepAlive_ = head.keepAlive || version_ == Version::kHttp10;
  asked_ = head.tunnel;
  expecting_ = head.expectContinue;
  const H1Framing framing = framingOf(head);
  if (framing != H1Framing::kNone) body_.begin(framing, head.contentLength, limits_);
  reading_ = framing == H1Framing::kNone ? Reading::kDone : Reading::kBody;
  token_ = sink_.onRequest(++stream_, std::move(message));
  if (token_ == kNoToken) abort();
}

bool H1ServerCodec::readBody(std::string_view& input) {
  H1BodyReader::BodyStep step = body_.next(input, sections_, stash_.pool());
  switch (step.status) {
    case H1BodyReader::Status::kNeedMore:
      if (const std::optional<Limit> reached = sections_.chargeKept()) failBody(noRoom(sink_, *reached));
      return true;
    case H1BodyReader::Status::kBlocked:
      return false;
    case H1BodyReader::Status::kData:
      sink_.onRequestBody(token_, step.data);
      if (!body_.complete()) return true;
      reading_ = Reading::kDone;
      sink_.onRequestEnd(token_);
      return true;
    case H1BodyReader::Status::kEnd:
      reading_ = Reading::kDone;
      if (step.trailers) {
        if (const std::optional<Limit> reached = sections_.charge.reach(step.trailers->arena.held())) {
          failBody(noRoom(sink_, *reached));
          return true;
        }
        step.trailers->charge = std::move(sections_.charge);
        sink_.onRequestEnd(token_, *std::move(step.trailers));
      } else {
        sections_.charge.release();
        sink_.onRequestEnd(token_);
      }
      return true;
    case H1BodyReader::Status::kFailed:
      if (step.fault.limit) sink_.onLimitHit(*step.fault.limit);
      failBody(errorOf(step.fault));
      return true;
  }
  return false;
}

void H1ServerCodec::refuseHead(const Error& error) {
  reading_ = Reading::kStopped;
  sections_.drop();  // at once, although the answer may wait until the client takes it
  token_ = sink_.onBadRequest(++stream_, error);
  if (token_ == kNoToken) abort();
}

void H1ServerCodec::failBody(const Error& error) {
  reading_ = Reading::kStopped;
  sections_.drop();
  const bool answerable = out_.state() == Writing::kNothing;
  sink_.onRequestReset(token_, error, answerable);
  if (!answerable) abort();
}

// Acts on the end of the client's side, as soon as everything before it was read. A whole request is still answered.
void H1ServerCodec::settleEnd() {
  if (!inputEnded_ || !stash_.empty()) return;
  switch (reading_) {
    case Reading::kHead:
      return stop();
    case Reading::kBody:
      return failBody(Error(base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
                            "the client ended the connection within a request"));
    case Reading::kDone:
      closeAfter_ = true;
      return;
    case Reading::kStopped:
      return;
  }
}

void H1ServerCodec::sendInterim(StreamId stream, const ResponseHead& head) {
  if (!isCurrent(stream) || out_.state() != Writing::kNothing || version_ == Version::kHttp10) return;
  if (head.status >= 200 || head.status == kSwitchingProtocols) return;
  if (head.status == kContinue) expecting_ = false;
  writeResponseHead(out_.heads(), head, {}, H1Persistence::kSilent);
}

void H1ServerCodec::sendResponse(StreamId stream, const ResponseHead& head) {
  if (!isCurrent(stream) || out_.state() != Writing::kNothing) return;
  if (head.body == Body::kTunnel) return openTunnel(head);
  const H1Announcement body = announcementOf(head, version_, headRequest_);
  // If the response is over before the request, the remaining bytes of the request are never read, and the client
  // should know. A client that has got no 100 may leave the body out, and then nobody knows what its next bytes are.
  const bool early = reading_ == Reading::kBody && (expecting_ || isComplete(head, sink_.responseBody(token_)));
  if (reading_ == Reading::kStopped || body.framing == H1Framing::kUntilClose || early) closeAfter_ = true;
  // Bytes that the client may send behind a refused CONNECT belong to the tunnel, and must not be read as a request.
  if (asked_ == Tunnel::kStream) closeAfter_ = true;
  H1Persistence persistence = H1Persistence::kSilent;
  if (closeAfter_) {
    persistence = H1Persistence::kClose;
  } else if (statesKeepAlive_) {
    persistence = H1Persistence::kKeepAlive;
  }
  if (head.status < 200 || !writeResponseHead(out_.heads(), head, body, persistence, limits_.keepAliveSeconds))
    return failResponse();
  out_.begin(body.framing, body.contentLength.value_or(0));
}

// RFC 9110 sections 7.8 and 9.3.6. The bytes that the client sent behind its request were kept, and belong to the
// tunnel only now.
void H1ServerCodec::openTunnel(const ResponseHead& head) {
  closeAfter_ = true;
  if (asked_ != head.tunnel || reading_ != Reading::kDone || head.status != agreementTo(asked_) ||
      !writeResponseHead(out_.heads(), head, {}, H1Persistence::kSilent)) {
    return failResponse();
  }
  reading_ = Reading::kStopped;
  tunnel_ =
      std::make_unique<OpaqueServerCodec>(sink_, std::move(stash_), limits_, std::exchange(token_, kNoToken), stream_);
  if (inputEnded_) tunnel_->feedEnd();
  tunnel_->open();
}

void H1ServerCodec::wake(StreamId stream) {
  if (!isCurrent(stream) || out_.state() != Writing::kBody) return tunnel_ ? tunnel_->wake(stream) : void();
  if (!out_.wake(sink_.responseBody(token_))) failResponse();
}

void H1ServerCodec::reset(StreamId stream, ResetReason reason) {
  if (tunnel_) return tunnel_->reset(stream, reason);
  if (isCurrent(stream)) abort();
}

void H1ServerCodec::produce(base::ByteQueue& out, std::size_t limit) {
  if (tunnel_ && tunnel_->abortive()) out_.heads().clear();  // the tunnel was broken before its head could leave
  if (!out_.heads().empty()) out.splice(out_.heads(), out_.heads().size());
  if (out_.state() == Writing::kBody) {
    BodyPipe* pipe = sink_.responseBody(token_);
    if (pipe == nullptr) {
      abort();
      return;
    }
    const std::size_t taken = out_.write(*pipe, out, limit);
    if (taken > 0) sink_.onResponseBodyTaken(token_, taken);
    if (out_.state() == Writing::kFailed) failResponse();
  }
  if (out_.state() == Writing::kComplete) return finishExchange();
  if (out_.state() == Writing::kFailed) {
    return reportLoss(sink_, abort(), Error::internal("the response could not be completed"));
  }
  if (tunnel_) tunnel_->produce(out, limit);
}

// Drops everything that was queued, so that the client cannot take the response for a whole one.
void H1ServerCodec::failResponse() {
  out_.fail();
  out_.heads().clear();
  reading_ = Reading::kStopped;
  abortive_ = true;
  stash_.clear();
}

void H1ServerCodec::finishExchange() {
  const Token token = std::exchange(token_, kNoToken);
  out_.finish();
  if (closeAfter_ || reading_ != Reading::kDone) {
    stop();
  } else {
    reading_ = Reading::kHead;
    sections_.begin(H1Section::kRequest);
    settleEnd();
  }
  sink_.onResponseSent(token);
}

void H1ServerCodec::stop() {
  reading_ = Reading::kStopped;
  stash_.clear();
  sections_.drop();
}

Token H1ServerCodec::abort() {
  stop();
  out_.heads().clear();
  out_.finish();
  abortive_ = true;
  return std::exchange(token_, kNoToken);
}

void H1ServerCodec::drain() {
  closeAfter_ = true;
  if (token_ == kNoToken && stash_.empty() && !headPending()) stop();
}

std::size_t H1ServerCodec::readBudget() const {
  if (inputEnded_) return 0;
  switch (reading_) {
    case Reading::kHead:
      return stash_.empty() ? kStashBytes : 0;
    case Reading::kDone:
      return stash_.size() < kStashBytes ? kStashBytes - stash_.size() : 0;
    case Reading::kBody:
      return stash_.empty() ? body_.credit() : 0;
    case Reading::kStopped:
      return tunnel_ ? tunnel_->readBudget() : 0;
  }
  return 0;
}

CodecState H1ServerCodec::state() const {
  if (reading_ == Reading::kStopped) {
    if (tunnel_) return tunnel_->state();
    return token_ == kNoToken || abortive_ ? CodecState::kClosed : CodecState::kDraining;
  }
  return closeAfter_ || inputEnded_ ? CodecState::kDraining : CodecState::kOpen;
}

std::size_t H1ServerCodec::activeStreams() const {
  if (token_ != kNoToken || headPending()) return 1;
  return tunnel_ ? tunnel_->activeStreams() : 0;
}

std::unique_ptr<ServerCodec> makeH1ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               ServerTerms terms, HeadAccount* heads, KnownAuthorities* authorities) {
  return std::make_unique<H1ServerCodec>(sink, pool, limits, terms, heads, authorities);
}

}  // namespace sluice::http

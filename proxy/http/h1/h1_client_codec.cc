#include <memory>
#include <utility>

#include "proxy/http/h1/h1_codec.h"
#include "proxy/http/keep_alive.h"

namespace sluice::http {
namespace {

using base::Error;
using base::ErrorType;

// RFC 9110 section 8.6: a request without content states so, if its method usually has content.
bool expectsContent(Method method) {
  return method == Method::kPost || method == Method::kPut || method == Method::kPatch;
}

H1Announcement announce(const RequestHead& head) {
  switch (head.body) {
    case Body::kNone:
      return expectsContent(head.method) ? H1Announcement{H1Framing::kNone, 0} : H1Announcement{};
    case Body::kLength:
      return {H1Framing::kLength, head.contentLength};
    case Body::kUntilEnd:
      return {H1Framing::kChunked, {}};
    case Body::kTunnel:
      return {};
  }
  return {};
}

Error protocolError(const char* why) { return Error::upstream(ErrorType::kHttpProtocolError, why); }

}  // namespace

H1ClientCodec::H1ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits)
    : sink_(sink), limits_(limits), sections_(pool, limits_, H1Messages::kResponses), out_(pool), stash_(pool) {}

StreamId H1ClientCodec::sendRequest(Token token, const RequestHead& head, Scheme /*scheme*/) {
  const bool tunnel = head.body == Body::kTunnel;
  if (availableStreams() == 0 || (tunnel && head.tunnelProof.empty())) return 0;
  token_ = token;
  ++stream_;
  const H1Announcement body = announce(head);
  const H1Persistence persistence = closeAfter_ ? H1Persistence::kClose : H1Persistence::kSilent;
  if (!writeRequestHead(out_.heads(), head, body, persistence)) {
    out_.fail();
    return stream_;
  }
  method_ = head.method;
  interims_ = 0;
  handedOver_ = false;
  expecting_ = head.expectContinue;
  bodyBegun_ = false;
  reading_ = Reading::kHead;
  sections_.begin(H1Section::kResponse);
  out_.begin(body.framing, head.contentLength);
  if (tunnel) {
    seldom_ = std::make_unique<Seldom>(
        Seldom{{}, head.tunnel, std::string(head.tunnelProof), head.version == Version::kHttp2, nullptr});
    out_.hold();
  }
  return stream_;
}

void H1ClientCodec::wake(StreamId stream) {
  if (!isCurrent(stream) || out_.state() != Writing::kBody)
    return tunnel() != nullptr ? tunnel()->wake(stream) : void();
  if (!out_.wake(sink_.requestBody(token_))) out_.fail();
}

void H1ClientCodec::reset(StreamId stream, ResetReason reason) {
  if (!isCurrent(stream)) return tunnel() != nullptr ? tunnel()->reset(stream, reason) : void();
  // A request that is cut short must not end in a way that the backend could take for its end.
  abortive_ = out_.state() != Writing::kNothing;
  token_ = kNoToken;
  stop();
}

void H1ClientCodec::grant(StreamId stream, std::size_t count) {
  if (!isCurrent(stream) || reading_ != Reading::kBody)
    return tunnel() != nullptr ? tunnel()->grant(stream, count) : void();
  body_.grant(count);
  if (!stash_.empty()) readStash();
}

void H1ClientCodec::feed(std::string_view bytes) {
  if (reading_ == Reading::kStopped) return tunnel() != nullptr ? tunnel()->feed(bytes) : void();
  if (stash_.empty()) read(bytes);
  if (reading_ == Reading::kStopped || bytes.empty()) return;
  stash_.append(bytes);
  readStash();
}

void H1ClientCodec::feedEnd(bool clean) {
  if (reading_ == Reading::kStopped) return tunnel() != nullptr ? tunnel()->feedEnd(clean) : void();
  if (inputEnd_ != InputEnd::kOpen) return;
  inputEnd_ = clean ? InputEnd::kClean : InputEnd::kBroken;
  settleEnd();
}

void H1ClientCodec::feedLost(const Error& error) {
  if (reading_ == Reading::kStopped) return tunnel() != nullptr ? tunnel()->feedLost(error) : void();
  // Bytes that came before the loss and still wait for credit are delivered first: they may be the whole response.
  if (!seldom_) seldom_ = std::make_unique<Seldom>();
  seldom_->lost = error;
  inputEnd_ = InputEnd::kBroken;
  settleEnd();
}

// Takes as much from the front of `input` as can be taken now.
void H1ClientCodec::read(std::string_view& input) {
  while (!input.empty()) {
    switch (reading_) {
      case Reading::kNothing:
        // No request was sent: these bytes must never become the answer to the next one.
        failRequest();
        break;
      case Reading::kHead:
        // As long as no byte of the request has left, no received byte can be its answer.
        if (!handedOver_) return fail(protocolError("the backend answered before it was asked"), true);
        readHead(input);
        break;
      case Reading::kBody:
        if (!readBody(input)) return;
        break;
      case Reading::kStopped:
        if (tunnel() != nullptr) tunnel()->feed(input);
        input = {};
        return;
    }
  }
}

void H1ClientCodec::readStash() {
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

void H1ClientCodec::readHead(std::string_view& input) {
  std::size_t used = 0;
  H1LineEnds ends;
  switch (sections_.scan(input, used, ends)) {
    case H1SectionReader::Status::kNeedMore:
      input = {};
      return;
    case H1SectionReader::Status::kFailed:
      return failWith(sections_.fault());
    case H1SectionReader::Status::kComplete: {
      ResponseMessage message(stash_.pool());
      const std::span<char> section = sections_.collect(message.arena, input.substr(0, used), ends);
      input.remove_prefix(used);
      return openResponse(std::move(message), section, ends);
    }
  }
}

void H1ClientCodec::openResponse(ResponseMessage&& message, std::span<char> section, const H1LineEnds& ends) {
  RawResponse raw;
  if (const char* why = parseResponseHead(section, ends, sections_.fieldLines(), message.arena, raw))
    return fail(protocolError(why));
  if (raw.status == kSwitchingProtocols && tunnelAsked()) return openTunnel(std::move(message), raw);
  bool closes = false;
  auto head = checkResponse(message.arena, raw, method_, closes);
  if (!head) return fail(head.error());
  message.head = *head;
  if (head->status < 200) return passInterim(std::move(message));

  if (tunnelAsked() && seldom_->successOpens && head->status < 300) {
    return fail(protocolError("success in answer to a request for a tunnel, and no tunnel"));
  }
  if (tunnelAsked()) declineTunnel();
  // RFC 9110 section 10.1.1. A backend that answers without its 100 may take the bytes that follow for the body or for
  // another request, so a body that has not begun is not sent any more.
  if (expecting_ && !bodyBegun_ && out_.state() == Writing::kBody) out_.hold();
  if (closes) closeAfter_ = true;
  keepAlive_ = keepAliveTimeout(raw.fields);
  if (head->body == Body::kNone) {
    const Token token = token_;
    endResponse();
    sink_.onResponse(token, std::move(message));
    return;
  }
  H1Framing framing = H1Framing::kUntilClose;
  if (head->body == Body::kLength) framing = H1Framing::kLength;
  const Field* const coding = raw.fields.find(FieldId::kTransferEncoding);
  if (coding != nullptr && equalsIgnoreCase(coding->value, "chunked")) framing = H1Framing::kChunked;
  body_.begin(framing, head->contentLength.value_or(0), limits_);
  reading_ = Reading::kBody;
  sink_.onResponse(token_, std::move(message));
}

// From here on the connection is the tunnel's (RFC 9110 section 7.8). Nothing is stashed: the bytes behind the head are
// still being read.
void H1ClientCodec::openTunnel(ResponseMessage&& message, const RawResponse& raw) {
  auto head = checkSwitch(message.arena, raw, seldom_->asked, seldom_->proof);
  if (!head) return fail(head.error());
  message.head = *head;
  seldom_->asked = Tunnel::kNone;
  const Token token = std::exchange(token_, kNoToken);
  out_.finish();
  reading_ = Reading::kStopped;
  seldom_->tunnel = std::make_unique<OpaqueClientCodec>(sink_, base::ByteQueue(stash_.pool()), limits_, token, stream_);
  sink_.onResponse(token, std::move(message));
}

// Called for any other final answer: no tunnel begins, and the request was complete with its head.
void H1ClientCodec::declineTunnel() {
  seldom_->asked = Tunnel::kNone;
  out_.finish();
  sink_.onRequestSent(token_);
}

void H1ClientCodec::passInterim(ResponseMessage&& message) {
  if (++interims_ > limits_.informationalResponses) {
    sink_.onLimitHit(Limit::kInformationalResponses);
    return fail(protocolError("too many informational responses").ofLimit(limitName(Limit::kInformationalResponses)));
  }
  if (message.head.status == kContinue) expecting_ = false;
  sections_.begin(H1Section::kResponse);
  sink_.onInterim(token_, std::move(message));
}

bool H1ClientCodec::readBody(std::string_view& input) {
  H1BodyReader::BodyStep step = body_.next(input, sections_, stash_.pool());
  const Token token = token_;
  switch (step.status) {
    case H1BodyReader::Status::kNeedMore:
      return true;
    case H1BodyReader::Status::kBlocked:
      return false;
    case H1BodyReader::Status::kData:
      sink_.onResponseBody(token, step.data);
      if (body_.complete()) {
        endResponse();
        sink_.onResponseEnd(token);
      }
      return true;
    case H1BodyReader::Status::kEnd:
      endResponse();
      if (step.trailers) {
        sink_.onResponseEnd(token, *std::move(step.trailers));
      } else {
        sink_.onResponseEnd(token);
      }
      return true;
    case H1BodyReader::Status::kFailed:
      failWith(step.fault);
      return true;
  }
  return false;
}

// The connection is used again only if both messages ended where they should: a request that is still being sent, or
// the rest of one, would become part of the next (RFC 9112 section 9.3). Whether a backend that owed a 100 has read the
// body is not known.
void H1ClientCodec::endResponse() {
  token_ = kNoToken;
  if (closeAfter_ || expecting_ || out_.state() != Writing::kNothing) return stop();
  reading_ = Reading::kNothing;
  sections_.begin(H1Section::kResponse);
}

void H1ClientCodec::fail(const Error& error, bool unprocessed) {
  const Token token = std::exchange(token_, kNoToken);
  abortive_ = out_.state() != Writing::kNothing;
  stop();
  sink_.onResponseReset(token, error, unprocessed);
}

void H1ClientCodec::failWith(const H1Fault& fault) {
  if (fault.limit) sink_.onLimitHit(*fault.limit);
  fail(protocolError(fault.why).ofLimit(fault.limit ? limitName(*fault.limit) : std::string_view()));
}

// Acts on the end of the backend's side, as soon as everything before it was read.
void H1ClientCodec::settleEnd() {
  if (inputEnd_ == InputEnd::kOpen || !stash_.empty()) return;
  const bool clean = inputEnd_ == InputEnd::kClean;
  if (seldom_ && seldom_->lost && token_ != kNoToken) return fail(Error(*seldom_->lost), !handedOver_);
  switch (reading_) {
    case Reading::kNothing:
      return failRequest();
    case Reading::kHead:
      return fail(
          Error::upstream(ErrorType::kConnectionTerminated, "the backend ended the connection before it answered"),
          !handedOver_);
    case Reading::kBody:
      if (clean && body_.framing() == H1Framing::kUntilClose) {
        const Token token = token_;
        endResponse();
        sink_.onResponseEnd(token);
        return;
      }
      return fail(
          Error::upstream(ErrorType::kConnectionTerminated, "the backend ended the connection within its response"));
    case Reading::kStopped:
      return;
  }
}

void H1ClientCodec::produce(base::ByteQueue& out, std::size_t limit) {
  if (!out_.heads().empty()) {
    out.splice(out_.heads(), out_.heads().size());
    handedOver_ = token_ != kNoToken;
  }
  if (out_.state() == Writing::kBody) {
    BodyPipe* pipe = sink_.requestBody(token_);
    if (pipe == nullptr) return reset(stream_, ResetReason::kCancelled);
    const std::size_t taken = out_.write(*pipe, out, limit);
    if (taken > 0) {
      bodyBegun_ = true;
      sink_.onRequestBodyTaken(token_, taken);
    }
  }
  if (out_.state() == Writing::kFailed) return failRequest();
  if (out_.state() == Writing::kComplete) {
    out_.finish();
    return sink_.onRequestSent(token_);
  }
  if (tunnel() != nullptr) tunnel()->produce(out, limit);
}

// Ends the connection, and the request with it if there is one that cannot be sent.
void H1ClientCodec::failRequest() {
  if (token_ == kNoToken) return stop();
  fail(Error::internal("the request could not be completed"));
}

void H1ClientCodec::stop() {
  reading_ = Reading::kStopped;
  out_.finish();
  out_.heads().clear();
  stash_.clear();
  sections_.begin(H1Section::kResponse);
}

void H1ClientCodec::drain() {
  closeAfter_ = true;
  if (token_ == kNoToken) stop();
}

std::size_t H1ClientCodec::readBudget() const {
  if (inputEnd_ != InputEnd::kOpen) return 0;
  switch (reading_) {
    case Reading::kNothing:
    case Reading::kHead:
      return kStashBytes;
    case Reading::kBody:
      return stash_.empty() ? body_.credit() : 0;
    case Reading::kStopped:
      return tunnel() != nullptr ? tunnel()->readBudget() : 0;
  }
  return 0;
}

std::size_t H1ClientCodec::activeStreams() const {
  if (token_ != kNoToken) return 1;
  return tunnel() != nullptr ? tunnel()->activeStreams() : 0;
}

CodecState H1ClientCodec::state() const {
  if (reading_ == Reading::kStopped) return tunnel() != nullptr ? tunnel()->state() : CodecState::kClosed;
  return closeAfter_ || inputEnd_ != InputEnd::kOpen ? CodecState::kDraining : CodecState::kOpen;
}

std::unique_ptr<ClientCodec> makeH1ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits) {
  return std::make_unique<H1ClientCodec>(sink, pool, limits);
}

}  // namespace sluice::http

#include "proxy/exchange/request_body.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/steps/body_framing.h"
#include "proxy/exchange/unseen.h"

namespace sluice::exchange {

using processing::OwnBody;
using processing::Pipeline;

void RequestBody::add(std::string_view bytes) {
  t_.requestBytes += bytes.size();
  t_.progressOfReceiving();
  // A body that is not needed any more is received only to be dropped.
  if (t_.requestState == RequestState::kStopped) return;
  if (Pipeline* steps = processing_.requestCarrier()) {
    steps->source.append(bytes);
  } else {
    receive(bytes);
  }
  if (t_.streamTunnel != nullptr) t_.streamTunnel->first.add(bytes);
  t_.raise(Event::kRequestBody);
}

void RequestBody::receive(std::string_view bytes) {
  t_.requestBody.bytes.append(bytes);
  attempts_.keep(bytes);
  if (!mirrors_.empty()) mirrors_.addBody(bytes);
}

void RequestBody::end(std::optional<http::Trailers> trailers) {
  t_.progress();
  t_.endTunnel(TunnelEnd::kClient);
  Pipeline* steps = processing_.requestCarrier();
  if (steps != nullptr && t_.requestState != RequestState::kStopped) {
    steps->end(std::move(trailers));
  } else {
    receiveEnd(std::move(trailers));
  }
  t_.raise(Event::kRequestBody);
}

void RequestBody::receiveEnd(std::optional<http::Trailers> trailers) {
  finishPipe(t_.requestBody, std::move(trailers));
  guardRequestTrailers(t_, attempts_.backend());
  processing_.guardTrailers();
  // Bytes that came after the request was stopped were given to no mirror.
  if (!mirrors_.empty() && t_.requestState != RequestState::kStopped) mirrors_.endBody();
}

void RequestBody::breakOff() {
  t_.requestBody.breakOff();
  if (ExchangeSteps* steps = processing_.steps()) steps->attemptBody.breakOff();
}

void RequestBody::onTaken(std::size_t count) {
  if (processing_.attemptCarrier() == nullptr) {
    pass(count);
  } else {
    t_.progress();
  }
  t_.raise(Event::kRequestTaken);
}

/// Called when the attempt has `count` more bytes of the body.
void RequestBody::pass(std::size_t count) {
  const std::size_t fresh = attempts_.pass(count);
  // If steps of the Gateway or the route took these bytes first, they have returned the flow-control credit already.
  if (processing_.requestCarrier() == nullptr) ungranted_ += fresh;
}

RequestBody::Outcome RequestBody::moveRequest() {
  Pipeline& pipeline = *processing_.steps()->request;
  http::BodyPipe& body = t_.requestBody;
  if (!pipeline.carries()) return pipeline.go(body.bytes, 0);
  base::ByteQueue passed(t_.context.worker().chunks());
  const Outcome outcome = pipeline.go(passed, body.bytes.size());
  if (outcome == Outcome::kRefused || outcome == Outcome::kMatchAgain) return outcome;
  const bool kept = attempts_.retries() != nullptr || !mirrors_.empty();
  for (; kept && !passed.empty(); passed.consume(passed.front().size())) receive(passed.front());
  body.bytes.splice(passed, passed.size());
  if (pipeline.tookEnd()) receiveEnd(std::exchange(pipeline.trailers, std::nullopt));
  if (const std::size_t fed = pipeline.takeFed()) {
    ungranted_ += fed;
    grant();
  }
  pipeline.keepRoomFor(body.bytes.size());
  return outcome;
}

/// Gives the attempt's steps as much of the body as they have room for. Returns false if there is nothing to give, and
/// nothing was taken either.
bool RequestBody::feedAttempt(Pipeline& pipeline, const base::ByteQueue& to) {
  http::BodyPipe& shared = t_.requestBody;
  OwnBody& own = processing_.steps()->ownBody;
  if (own.isChanged()) return feedOwn(pipeline, to, own);
  const std::size_t count = std::min(pipeline.room(to.size()), shared.bytes.size());
  const bool ends = pipeline.isOpen() && count == shared.bytes.size() && shared.end() == http::PipeEnd::kComplete;
  if (count == 0 && !ends) return false;
  pipeline.source.splice(shared.bytes, count);
  if (count > 0) pass(count);
  if (ends) pipeline.end(trailersOf(shared));
  return true;
}

/// Gives them the body of the Backend alone, in the place of the one that all share, once that has come whole.
bool RequestBody::feedOwn(Pipeline& pipeline, const base::ByteQueue& to, OwnBody& own) {
  http::BodyPipe& shared = t_.requestBody;
  const std::size_t replaced = shared.bytes.size();
  if (replaced > 0) {
    shared.bytes.clear();
    pass(replaced);
  }
  if (shared.end() != http::PipeEnd::kComplete || !pipeline.isOpen()) return replaced > 0;
  const std::size_t count = std::min(pipeline.room(to.size()), own.bytes.size());
  const bool ends = count == own.bytes.size();
  if (count == 0 && !ends) return replaced > 0;
  pipeline.source.splice(own.bytes, count);
  if (!ends) return true;
  if (own.trailers() != nullptr) guardRequestTrailers(t_, attempts_.backend(), own.trailers()->fields);
  pipeline.end(own.takeTrailers());
  return true;
}

RequestBody::Outcome RequestBody::move(bool attempt) {
  const bool carried = processing_.requestCarrier() != nullptr;
  if (carried && moveRequest() == Outcome::kRefused) return Outcome::kRefused;
  if (!attempt) return Outcome::kDone;
  Pipeline& pipeline = *processing_.attempt();
  http::BodyPipe& to = processing_.steps()->attemptBody;
  Outcome outcome = pipeline.go(to.bytes, 0);
  while (pipeline.carries() && outcome != Outcome::kRefused && feedAttempt(pipeline, to.bytes)) {
    outcome = pipeline.go(to.bytes, 0);
    // Bytes that the attempt took have made room.
    if (carried && moveRequest() == Outcome::kRefused) return Outcome::kRefused;
  }
  if (!pipeline.carries() || outcome == Outcome::kRefused) return outcome;
  if (pipeline.tookEnd()) {
    finishPipe(to, std::exchange(pipeline.trailers, std::nullopt));
    processing_.guardTrailers();
  }
  pipeline.keepRoomFor(to.bytes.size());
  grant();
  return outcome;
}

void RequestBody::grant() {
  const std::size_t held = t_.requestBody.bytes.size();
  if (ungranted_ < kGrantUnit && held > 0) return;
  if (account_.withholds(held)) return;
  http::ServerCodec* codec = t_.codec();
  if (codec == nullptr) return;
  if (account_.widensRequest()) codec->widen(t_.client.stream);
  codec->grant(t_.client.stream, std::exchange(ungranted_, 0));
}

}  // namespace sluice::exchange

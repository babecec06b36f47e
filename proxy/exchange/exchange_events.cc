// What the sinks tell an exchange: recorded here, acted on by drive().
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"
#include "proxy/http/connection_auth.h"

namespace sluice::exchange {
namespace {

// timeouts.bodyIdle is a window in which a client must bring at least this much of its body, so that a drip does not
// count as progress.
constexpr std::uint64_t kLeastBodyPerWindow = 1024;

}  // namespace

void Exchange::progress() {
  if (responseState_ == ResponseState::kAnswering) return;  // its time runs from the beginning of the answer
  lastProgress_ = owner_.worker().now();
  receivedMark_ = requestBytes_;
  passedMark_ = requestPassed_;
}

void Exchange::progressWithin(std::uint64_t total, std::uint64_t mark) {
  if (total - mark >= kLeastBodyPerWindow || tunnels()) progress();
}

bool Exchange::tunnels() const { return status_ == http::kSwitchingProtocols; }

void Exchange::addRequestBody(std::string_view bytes) {
  requestBytes_ += bytes.size();
  progressWithin(requestBytes_, receivedMark_);
  // Once nobody wants it, it is received only to be dropped.
  if (requestState_ == RequestState::kStopped) return;
  if (processing::Pipeline* steps = carrier(&ExchangeSteps::request)) {
    steps->source.append(bytes);
  } else {
    receiveBody(bytes);
  }
  raise(Event::kRequestBody);
}

void Exchange::receiveBody(std::string_view bytes) {
  requestBody_.bytes.append(bytes);
  if (retries_) retries_->replay.keep(bytes);
  if (!mirrors_.empty()) mirrorBody(bytes);
}

void Exchange::endRequest(std::optional<http::Trailers> trailers) {
  progress();
  processing::Pipeline* steps = carrier(&ExchangeSteps::request);
  if (steps != nullptr && requestState_ != RequestState::kStopped) {
    steps->end(std::move(trailers));
  } else {
    receiveEnd(std::move(trailers));
  }
  raise(Event::kRequestBody);
}

void Exchange::receiveEnd(std::optional<http::Trailers> trailers) {
  if (trailers) {
    requestBody_.finish(std::move(*trailers));
  } else {
    requestBody_.finish();
  }
  guardClientsTrailers();
  if (steps_) guardTrailers();
  // Of what came after that, nobody has had anything.
  if (!mirrors_.empty() && requestState_ != RequestState::kStopped) mirrorEnd();
}

void Exchange::onRequestReset(const base::Error& error, bool answerable) {
  requestBody_.breakOff();
  if (steps_) steps_->attemptBody.breakOff();
  raise(answerable ? Event::kRequestBroken : Event::kClientGone, error);
}

void Exchange::onInterim(http::ResponseMessage&& message) {
  progress();
  interims_.push_back(std::move(message));
  raise(Event::kInterim);
}

void Exchange::onResponse(http::ResponseMessage&& message) {
  progress();
  if (http::asksToAuthenticateConnection(message.head)) keepToClient(message.head);
  const bool processed = wantsResponse();
  if (message.head.body == http::Body::kNone && !processed) responseBody_.finish();
  // The backend does not agree to a tunnel: the request was complete with its head.
  if (request_.head.body == http::Body::kTunnel && message.head.body != http::Body::kTunnel) requestBody_.finish();
  response_ = std::move(message);
  if (processed) {
    beginResponseSteps();
    if (wants(processing::Phase::kBackendResponse)) return raise(Event::kResponseArrived);
  }
  judgeStatus();
}

/// Whoever answers the challenge answers for the connection, which is nobody else's then.
void Exchange::keepToClient(http::ResponseHead& challenge) {
  if (owner_.refusesConnectionAuth()) return http::removeConnectionChallenges(challenge.headers);
  attempt_.request.pin(origin_.connection);
}

void Exchange::judgeStatus() {
  const bool refused = retries_ && retries_->refuses(response_->head.status);
  if (refused) return raise(Event::kResponseRefused);
  keepResponse();
}

void Exchange::addResponseBody(std::string_view bytes) {
  progress();
  if (processing::Pipeline* steps = carrier(&ExchangeSteps::response)) {
    steps->source.append(bytes);
  } else {
    responseBody_.bytes.append(bytes);
  }
  raise(Event::kResponseBody);
}

void Exchange::endResponse(std::optional<http::Trailers> trailers) {
  progress();
  if (trailers) guardBackendsTrailers(trailers->fields);
  if (requestState_ == RequestState::kSent) attempt_.request.end();
  if (processing::Pipeline* steps = carrier(&ExchangeSteps::response)) {
    steps->end(std::move(trailers));
  } else if (trailers) {
    responseBody_.finish(std::move(*trailers));
  } else {
    responseBody_.finish();
  }
  raise(Event::kResponseBody);
}

void Exchange::onUpstreamReset(const base::Error& error, bool unprocessed) {
  unprocessed_ = unprocessed;
  attempt_.request.end();
  raise(Event::kUpstreamReset, error);
}

void Exchange::onRequestTaken(std::size_t count) {
  if (carrier(&ExchangeSteps::attempt) == nullptr) {
    passRequest(count);
  } else {
    progress();
  }
  raise(Event::kRequestTaken);
}

/// This attempt has that much more of the body.
void Exchange::passRequest(std::size_t count) {
  requestPassed_ += count;
  progressWithin(requestPassed_, passedMark_);
  const std::size_t fresh = retries_ ? retries_->replay.take(requestPassed_, count) : count;
  // Steps before it have granted the client what they took.
  if (carrier(&ExchangeSteps::request) == nullptr) requestTaken_ += fresh;
}

void Exchange::onResponseTaken(std::size_t count) {
  progress();
  if (carrier(&ExchangeSteps::response) == nullptr) responseTaken_ += count;
  responseBytes_ += count;
  raise(Event::kResponseTaken);
}

}  // namespace sluice::exchange

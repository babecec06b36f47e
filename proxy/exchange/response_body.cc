#include "proxy/exchange/response_body.h"

#include <utility>

#include "proxy/exchange/request_body.h"
#include "proxy/exchange/steps/body_framing.h"
#include "proxy/exchange/unseen.h"

namespace sluice::exchange {

using processing::Pipeline;

void ResponseBody::add(std::string_view bytes) {
  t_.progress();
  if (Pipeline* steps = processing_.responseCarrier()) {
    steps->source.append(bytes);
  } else {
    t_.responseBody.bytes.append(bytes);
  }
  t_.raise(Event::kResponseBody);
}

void ResponseBody::end(std::optional<http::Trailers> trailers) {
  t_.progress();
  t_.endTunnel(TunnelEnd::kBackend);
  if (trailers) guardResponseTrailers(t_, *attempts_.backend(), processing_, trailers->fields);
  if (t_.requestState == RequestState::kSent) {
    attempts_.current().request.end();
    attempts_.current().request.leave();
  }
  if (Pipeline* steps = processing_.responseCarrier()) {
    steps->end(std::move(trailers));
  } else {
    finishPipe(t_.responseBody, std::move(trailers));
  }
  t_.raise(Event::kResponseBody);
}

void ResponseBody::onTaken(std::size_t count) {
  t_.progress();
  if (processing_.responseCarrier() == nullptr) ungranted_ += count;
  t_.responseBytes += count;
  t_.raise(Event::kResponseTaken);
}

Pipeline::Outcome ResponseBody::move() {
  Pipeline& pipeline = *processing_.steps()->response;
  http::BodyPipe& body = t_.responseBody;
  const Pipeline::Outcome outcome = pipeline.go(body.bytes, 0);
  if (outcome == Pipeline::Outcome::kRefused || !pipeline.carries()) return outcome;
  if (pipeline.tookEnd()) finishPipe(body, std::exchange(pipeline.trailers, std::nullopt));
  pipeline.keepRoomFor(body.bytes.size());
  ungranted_ += pipeline.takeFed();
  if (ungranted_ > 0) grant();
  return outcome;
}

void ResponseBody::grant() {
  const std::size_t held = t_.responseBody.bytes.size();
  if (ungranted_ < kGrantUnit && held > 0) return;
  upstream::Request& request = attempts_.current().request;
  if (!request.active() || account_.withholds(held)) return;
  if (account_.widensResponse()) request.widen();
  request.grant(std::exchange(ungranted_, 0));
}

void ResponseBody::reset() {
  t_.responseBody = http::BodyPipe(t_.context.worker().chunks());
  account_.resetResponse();
}

}  // namespace sluice::exchange

#include "proxy/exchange/exchanges.h"

#include <utility>

namespace sluice::exchange {

Exchanges::~Exchanges() = default;

void Exchanges::adopt(const base::TimeoutSettings& timeouts, const base::LimitSettings& limits,
                      const base::ForwardedSettings& forwarded, const std::string& revision) {
  parts_.timeouts = timeouts;
  parts_.limits = limits;
  bodyWindow_ = bodyWindowOf(limits);
  parts_.identity.forwarded = forwarded;
  exchanges_.forEach([&](Exchange& exchange) { exchange.pin(revision); });
  mirrors_.pin();
}

Exchange& Exchanges::create(const Origin& origin, http::RequestMessage&& request) {
  Exchange& exchange = exchanges_.create(*this, origin, std::move(request));
  const auto refusal = exchange.hasSmallHead() ? std::nullopt : exchange.chargeHead();
  if (refusal) {
    exchange.raise(Event::kRefusedHead, *refusal);
  } else {
    exchange.raise(Event::kArrived);
  }
  return exchange;
}

Exchange& Exchanges::createRefused(const Origin& origin, const base::Error& error) {
  http::RequestMessage nothing(parts_.worker.chunks());
  nothing.head.methodText = {};
  Exchange& exchange = exchanges_.create(*this, origin, std::move(nothing));
  exchange.raise(Event::kRefusedHead, error);
  return exchange;
}

void Exchanges::drive() {
  batch_.swap(due_);
  for (const auto handle : batch_) {
    Exchange* exchange = exchanges_.find(handle);
    if (exchange == nullptr) continue;
    exchange->drive();
    exchange->scheduled = false;  // after it: what it raises itself it has taken already
    if (exchange->finished()) finished_.push_back(handle);
  }
  batch_.clear();
  mirrors_.drive();
}

void Exchanges::reap() {
  for (const auto handle : finished_) {
    Exchange* exchange = exchanges_.find(handle);
    if (exchange == nullptr) continue;
    parts_.observer.onFinished(*exchange);
    exchange->releaseHead();
    exchanges_.destroy(handle);
  }
  finished_.clear();
  mirrors_.reap();
}

void Exchanges::shutdown() {
  due_.clear();
  finished_.clear();
  exchanges_.forEach([this](Exchange& exchange) { finished_.push_back(exchange.handle()); });
  reap();
  mirrors_.shutdown();
}

void Exchanges::schedule(Exchange& exchange) {
  exchange.scheduled = true;
  due_.push_back(exchange.handle());
}

// Whose token finds no exchange may be a mirror.

void Exchanges::onInterim(http::Token token, http::ResponseMessage&& message) {
  if (Exchange* exchange = find(token)) exchange->onInterim(std::move(message));
}

void Exchanges::onResponse(http::Token token, http::ResponseMessage&& message) {
  if (Exchange* exchange = find(token)) return exchange->onResponse(std::move(message));
  if (Mirror* mirror = mirrors_.find(token)) mirror->onResponse(message.head);
}

void Exchanges::onResponseBody(http::Token token, std::string_view bytes) {
  if (Exchange* exchange = find(token)) return exchange->addResponseBody(bytes);
  if (Mirror* mirror = mirrors_.find(token)) mirror->onResponseBody(bytes.size());
}

void Exchanges::onResponseEnd(http::Token token) {
  if (Exchange* exchange = find(token)) return exchange->endResponse(std::nullopt);
  if (Mirror* mirror = mirrors_.find(token)) mirror->onResponseEnd();
}

void Exchanges::onResponseEnd(http::Token token, http::Trailers&& trailers) {
  if (Exchange* exchange = find(token)) return exchange->endResponse(std::move(trailers));
  if (Mirror* mirror = mirrors_.find(token)) mirror->onResponseEnd();
}

void Exchanges::onResponseReset(http::Token token, const base::Error& error, bool unprocessed) {
  if (Exchange* exchange = find(token)) return exchange->onUpstreamReset(error, unprocessed);
  if (Mirror* mirror = mirrors_.find(token)) mirror->onReset(error);
}

http::BodyPipe* Exchanges::requestBody(http::Token token) {
  if (Exchange* exchange = find(token)) return &exchange->requestBody();
  Mirror* mirror = mirrors_.find(token);
  return mirror != nullptr ? &mirror->body() : nullptr;
}

void Exchanges::onRequestBodyTaken(http::Token token, std::size_t count) {
  if (Exchange* exchange = find(token)) return exchange->onRequestTaken(count);
  if (Mirror* mirror = mirrors_.find(token)) mirror->onRequestTaken();
}

void Exchanges::onRequestSent(http::Token token) {
  if (Exchange* exchange = find(token)) return exchange->raise(Event::kRequestSent);
  if (Mirror* mirror = mirrors_.find(token)) mirror->onRequestSent();
}

void Exchanges::onLimitHit(http::Limit limit) { parts_.observer.onLimit(http::limitName(limit)); }

bool Exchanges::onPoolReady(http::Token waiter) {
  if (Mirror* mirror = mirrors_.find(waiter)) return mirror->onPoolReady();
  Exchange* exchange = find(waiter);
  if (exchange == nullptr || exchange->requestState() != RequestState::kAcquiring) return false;
  exchange->raise(Event::kPoolReady);
  return true;
}

bool Exchanges::onPoolFailed(http::Token waiter, const base::Error& error) {
  if (Mirror* mirror = mirrors_.find(waiter)) return mirror->onPoolFailed(error);
  Exchange* exchange = find(waiter);
  if (exchange == nullptr || exchange->requestState() != RequestState::kAcquiring) return false;
  exchange->raise(Event::kUnavailable, error);
  return true;
}

void Exchanges::onResumed(http::Token token, processing::Ticket ticket, bool dropped) {
  if (Exchange* exchange = find(token)) return exchange->onStepAnswer(ticket, dropped);
  if (Mirror* mirror = mirrors_.find(token)) mirror->onStepAnswer(ticket, dropped);
}

}  // namespace sluice::exchange

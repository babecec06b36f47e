#include "proxy/exchange/exchanges.h"

#include <utility>

namespace sluice::exchange {

Exchanges::~Exchanges() = default;

void Exchanges::adopt(const base::Settings& settings, const std::string& revision) {
  parts_.timeouts = settings.timeouts;
  parts_.limits = settings.limits;
  parts_.retryBudget = settings.retryBudget;
  bodyWindow_ = bodyWindowOf(settings.limits);
  parts_.identity.forwarded = settings.forwarded;
  parts_.identity.requestId = RequestIdField(settings.requestId);
  exchanges_.forEach([&](Exchange& exchange) { exchange.pin(revision); });
  mirrors_.pin();
}

Exchange& Exchanges::create(const ClientStream& client, http::RequestMessage&& request) {
  Exchange& exchange = exchanges_.create(*this, client, std::move(request));
  const auto refusal = exchange.headMemory().isFree() ? std::nullopt : exchange.headMemory().charge();
  if (refusal) {
    exchange.raise(Event::kRefusedHead, *refusal);
  } else {
    exchange.raise(Event::kArrived);
  }
  return exchange;
}

Exchange& Exchanges::createRefused(const ClientStream& client, const base::Error& error) {
  http::RequestMessage nothing(parts_.worker.chunks());
  nothing.head.methodText = {};
  nothing.head.method = http::Method::kOther;
  Exchange& exchange = exchanges_.create(*this, client, std::move(nothing));
  exchange.raise(Event::kRefusedHead, error);
  return exchange;
}

void Exchanges::drive() {
  batch_.swap(due_);
  for (const auto handle : batch_) {
    Exchange* exchange = exchanges_.find(handle);
    if (exchange == nullptr) continue;
    exchange->drive();
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
    exchange->headMemory().release();
    exchanges_.destroy(handle);
  }
  finished_.clear();
  mirrors_.reap();
  services_.reap();
}

void Exchanges::shutdown() {
  due_.clear();
  finished_.clear();
  exchanges_.forEach([this](Exchange& exchange) {
    const Transaction& transaction = exchange.transaction();
    if (transaction.streamTunnel != nullptr) transaction.streamTunnel->endBy(TunnelEnd::kDrain);
    finished_.push_back(exchange.transaction().handle);
  });
  reap();
  mirrors_.shutdown();
  services_.shutdown();
}

void Exchanges::schedule(Transaction& transaction) {
  transaction.scheduled = true;
  due_.push_back(transaction.handle);
}

void Exchanges::onInterim(http::Token token, http::ResponseMessage&& message) {
  if (Exchange* exchange = find(token)) exchange->onInterim(std::move(message));
}

void Exchanges::onResponse(http::Token token, http::ResponseMessage&& message) {
  if (Exchange* exchange = find(token)) exchange->onResponse(std::move(message));
}

void Exchanges::onResponseBody(http::Token token, std::string_view bytes) {
  if (Exchange* exchange = find(token)) exchange->addResponseBody(bytes);
}

void Exchanges::onResponseEnd(http::Token token) {
  if (Exchange* exchange = find(token)) exchange->endResponse(std::nullopt);
}

void Exchanges::onResponseEnd(http::Token token, http::Trailers&& trailers) {
  if (Exchange* exchange = find(token)) exchange->endResponse(std::move(trailers));
}

void Exchanges::onResponseReset(http::Token token, const base::Error& error, bool unprocessed) {
  if (Exchange* exchange = find(token)) exchange->onUpstreamReset(error, unprocessed);
}

http::BodyPipe* Exchanges::requestBody(http::Token token) {
  Exchange* exchange = find(token);
  return exchange != nullptr ? &exchange->requestBody() : nullptr;
}

void Exchanges::onRequestBodyTaken(http::Token token, std::size_t count) {
  if (Exchange* exchange = find(token)) exchange->onRequestTaken(count);
}

void Exchanges::onRequestSent(http::Token token) {
  if (Exchange* exchange = find(token)) exchange->raise(Event::kRequestSent);
}

bool Exchanges::onPoolReady(http::Token waiter) {
  Exchange* exchange = find(waiter);
  if (exchange == nullptr || !exchange->waitsForPool()) return false;
  exchange->raise(Event::kPoolReady);
  return true;
}

bool Exchanges::onPoolFailed(http::Token waiter, const base::Error& error) {
  Exchange* exchange = find(waiter);
  if (exchange == nullptr || !exchange->waitsForPool()) return false;
  exchange->raise(Event::kUnavailable, error);
  return true;
}

void Exchanges::surveyPlaces(std::uint64_t breaker, upstream::PlaceSurvey& survey) {
  exchanges_.forEach([&](const Exchange& each) { each.surveyPlace(breaker, survey); });
}

bool Exchanges::giveWay(const upstream::StalledRequest& stalled, const upstream::PlaceDemand& demand) {
  Exchange* exchange = find(stalled.holder);
  return exchange != nullptr && exchange->giveWay(stalled.since, demand);
}

void Exchanges::onResumed(http::Token token, processing::Ticket ticket, bool dropped) {
  if (Exchange* exchange = find(token)) exchange->onStepAnswer(ticket, dropped);
}

void Exchanges::onPasswordChecked(http::Token token, bool right) {
  if (Exchange* exchange = find(token)) exchange->onPasswordChecked(right);
}

}  // namespace sluice::exchange

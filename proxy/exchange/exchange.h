// An Exchange carries one request and its response through the gateway. The slab of Exchanges owns it; it is found by
// handle, on one thread.
//
// Sinks record events; drive() alone moves the exchange, by the tables of transitions.h. Its parts only call downwards
// (router, pool, codecs), and the outcome of each call comes back as another event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/exchange/exchange_state.h"
#include "proxy/exchange/exchange_wait.h"
#include "proxy/exchange/request_path.h"
#include "proxy/exchange/response_path.h"
#include "proxy/exchange/transaction/deadlines.h"
#include "proxy/net/timers.h"

namespace sluice::exchange {

class Exchange final : private net::Timer {
 public:
  Exchange(base::Handle<Exchange> self, ExchangeContext& context, const ClientStream& client,
           http::RequestMessage&& request)
      : s_(*this, self, context, client, std::move(request)) {
    armNew();
  }

  /// Records that something happened; drive() follows in this beat.
  void raise(Event event) { s_.transaction.raise(event); }
  void raise(Event event, const base::Error& error) { s_.transaction.raise(event, error); }
  void drive();
  http::Token token() const { return s_.transaction.token(); }
  bool finished() const { return s_.transaction.finished(); }
  HeadMemory& headMemory() { return s_.headMemory; }
  /// Called before the snapshot by which it was routed is released. Keeps the parts of the snapshot that it uses, and
  /// the revision.
  void pin(const std::string& revision) { s_.transaction.route.pin(revision); }

  // Called by the client's connection.
  void addRequestBody(std::string_view bytes) { s_.requestBody.add(bytes); }
  void endRequest(std::optional<http::Trailers> trailers) {
    if (trailers) s_.headMemory.add(*trailers);
    s_.requestBody.end(std::move(trailers));
  }
  void onRequestReset(const base::Error& error, bool answerable);
  void onResponseTaken(std::size_t count) { s_.responseBody.onTaken(count); }
  // Called by the upstream codec.
  void onInterim(http::ResponseMessage&& message) { responsePath_.onInterim(std::move(message)); }
  void onResponse(http::ResponseMessage&& message) { responsePath_.onResponse(std::move(message)); }
  void addResponseBody(std::string_view bytes) { s_.responseBody.add(bytes); }
  void endResponse(std::optional<http::Trailers> trailers) { s_.responseBody.end(std::move(trailers)); }
  void onUpstreamReset(const base::Error& error, bool unprocessed) {
    s_.transaction.endTunnel(TunnelEnd::kBackend);
    s_.attempts.onReset(error, unprocessed);
  }
  void onRequestTaken(std::size_t count) { s_.requestBody.onTaken(count); }
  /// Called when a suspended step may go on, or has been dropped, and when a body or its copy had to give way.
  void onStepAnswer(processing::Ticket ticket, bool dropped);
  /// Called when the password that it waits for was checked.
  void onPasswordChecked(bool right);
  /// Returns true if the pool may still notify it that a connection is ready, or that none will be.
  bool waitsForPool() const {
    return s_.transaction.requestState == RequestState::kAcquiring ||
           s_.transaction.requestState == RequestState::kConnecting;
  }

  /// Return the bodies that are sent to the backend and to the client.
  http::BodyPipe& requestBody() { return s_.requestBody.outlet(); }
  http::BodyPipe& responseBody() { return s_.transaction.responseBody; }

  /// Adds the exchange to the survey if its attempt has a place at the circuit breaker with that number.
  void surveyPlace(std::uint64_t breaker, upstream::PlaceSurvey& survey) const;
  /// Does upstream::WaiterSink::giveWay().
  bool giveWay(base::MonotonicTime stalledSince, const upstream::PlaceDemand& demand);

  // Read by the observer and by lists.
  const Transaction& transaction() const { return s_.transaction; }
  const Attempt& attempt() const { return s_.attempts.current(); }
  /// Returns the step of a processor that replied or failed; nullptr if none did.
  const ExchangeSteps::StepRefusal* refusal() const { return s_.processing.refusal(); }
  /// Returns the first step that is suspended; nullptr if none is.
  const processing::Step* suspendedStep() const;
  /// Returns the event that the exchange waits for now.
  ExchangeWait wait() const { return waitOf(s_); }
  /// Returns the revision of the configuration that routed it, if `current` is the one that is served now.
  const std::string& revision(const std::string& current) const {
    return s_.transaction.route.pinned ? s_.transaction.route.pinned->revision : current;
  }

 private:
  void onTimer() override;
  void arm() { armAt(firstDeadline(timeline())); }
  void armAt(base::MonotonicTime deadline);
  void armNew();
  Timeline timeline() const;
  bool clientStalls() const;
  bool owesBytes(const Timeline& line) const;
  void expire(Expiry expiry);
  base::Error timedOut(std::string_view timeout, base::Error error);

  ExchangeState s_;
  RequestPath requestPath_{s_};
  ResponsePath responsePath_{s_};
};

inline ExchangeNames namesOf(const Exchange& exchange) {
  const MatchedRoute& route = exchange.transaction().route;
  return namesOf(route.listener, route.rule, exchange.attempt().backend);
}

}  // namespace sluice::exchange

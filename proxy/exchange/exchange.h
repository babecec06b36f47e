// An Exchange carries one request and its response through the gateway. The slab of Exchanges owns it; it is found by
// handle, on one thread.
//
// Sinks record events; drive() alone moves the exchange, by the tables of transitions.h. Its parts only call downwards
// (router, pool, codecs), and the outcome of each call comes back as another event.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/client_account.h"
#include "proxy/exchange/deadlines.h"
#include "proxy/exchange/head_memory.h"
#include "proxy/exchange/mirror/request_mirrors.h"
#include "proxy/exchange/request_body.h"
#include "proxy/exchange/request_path.h"
#include "proxy/exchange/response_body.h"
#include "proxy/exchange/response_path.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction.h"
#include "proxy/net/timers.h"

namespace sluice::exchange {

class Exchange final : private net::Timer {
 public:
  Exchange(base::Handle<Exchange> self, ExchangeContext& context, const ClientStream& client,
           http::RequestMessage&& request)
      : t_(*this, self, context, client, std::move(request)) {
    arm();
  }

  /// Records that something happened; drive() follows in this beat.
  void raise(Event event) { t_.raise(event); }
  void raise(Event event, const base::Error& error) { t_.raise(event, error); }
  void drive();
  http::Token token() const { return t_.token(); }
  bool finished() const { return t_.finished(); }
  HeadMemory& headMemory() { return headMemory_; }
  /// Called before the snapshot that it was routed by goes. Keeps what it uses of the snapshot, and its revision.
  void pin(const std::string& revision) { t_.route.pin(revision); }

  // Called by the client's connection.
  void addRequestBody(std::string_view bytes) { requestBody_.add(bytes); }
  void endRequest(std::optional<http::Trailers> trailers) { requestBody_.end(std::move(trailers)); }
  void onRequestReset(const base::Error& error, bool answerable);
  void onResponseTaken(std::size_t count) { responseBody_.onTaken(count); }
  // Called by the upstream codec.
  void onInterim(http::ResponseMessage&& message) { responsePath_.onInterim(std::move(message)); }
  void onResponse(http::ResponseMessage&& message) { responsePath_.onResponse(std::move(message)); }
  void addResponseBody(std::string_view bytes) { responseBody_.add(bytes); }
  void endResponse(std::optional<http::Trailers> trailers) { responseBody_.end(std::move(trailers)); }
  void onUpstreamReset(const base::Error& error, bool unprocessed) { responsePath_.onReset(error, unprocessed); }
  void onRequestTaken(std::size_t count) { requestBody_.onTaken(count); }
  /// Called when a suspended step may go on, or has been dropped.
  void onStepAnswer(processing::Ticket ticket, bool dropped);
  /// Returns true if the pool may tell it of a connection, or that there will be none.
  bool waitsForPool() const {
    return t_.requestState == RequestState::kAcquiring || t_.requestState == RequestState::kConnecting;
  }

  /// Return the bodies that are sent to the backend and to the client.
  http::BodyPipe& requestBody() { return requestBody_.outlet(); }
  http::BodyPipe& responseBody() { return t_.responseBody; }

  // Read by the observer and by lists.
  const Transaction& transaction() const { return t_; }
  const Attempt& attempt() const { return attempts_.current(); }
  /// Returns the name of the processor that replied or failed; empty if none did.
  std::string_view processor() const { return processing_.refusing(); }
  /// Returns the first step that is suspended; nullptr if none is.
  const processing::Step* suspendedStep() const;
  /// Returns the revision of the configuration that routed it, if `current` is the one that is served now.
  const std::string& revision(const std::string& current) const {
    return t_.route.pinned ? t_.route.pinned->revision : current;
  }

 private:
  void onTimer() override;
  void arm();
  Timeline timeline() const;
  bool clientStalls() const;
  void expire(Expiry expiry);

  Transaction t_;
  HeadMemory headMemory_{t_};
  Attempts attempts_{t_};
  Processing processing_{t_, attempts_};
  ClientAccount account_{t_, processing_};
  RequestMirrors mirrors_{t_, processing_};
  RequestBody requestBody_{t_, attempts_, processing_, account_, mirrors_};
  ResponseBody responseBody_{t_, attempts_, processing_, account_};
  RequestPath requestPath_{t_, attempts_, processing_, mirrors_, requestBody_, responseBody_};
  ResponsePath responsePath_{t_, attempts_, processing_, mirrors_, responseBody_, headMemory_};
};

inline ExchangeNames namesOf(const Exchange& exchange) {
  const MatchedRoute& route = exchange.transaction().route;
  return namesOf(route.listener, route.rule, exchange.attempt().backend);
}

}  // namespace sluice::exchange

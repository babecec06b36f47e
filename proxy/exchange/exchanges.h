// The table of a worker's exchanges, their part of the beat, and the sinks by which codecs and pools find them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/base/random.h"
#include "proxy/base/slab.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/mirrors.h"
#include "proxy/net/worker.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::exchange {

/// Told of each exchange. Implemented by Report, and by tests.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  /// Rule and Backend are decided, or that there are none. Not for requests whose head was refused.
  virtual void onRouted(const Exchange& exchange) = 0;
  /// What was decided does not hold any more; onRouted() follows.
  virtual void onLeftRoute(const Exchange& exchange) = 0;
  /// An attempt has failed and another one follows, which the exchange has already. `status` is what the backend
  /// answered, or with `error` what the gateway would have.
  virtual void onRetry(const Exchange& exchange, const Attempt& failed, std::uint16_t status,
                       const base::Error* error) = 0;
  virtual void onFinished(const Exchange& exchange) = 0;
  /// A step of a payload processor has run to its end.
  virtual void onStep(const processing::Step& step, base::Duration time, const processing::Verdict& verdict,
                      processing::StepOutcome outcome) = 0;
  /// A mirrored request is over, one way or another.
  virtual void onMirrored(const Mirror& mirror) = 0;
  virtual void onLimit(std::string_view limit) = 0;
};

/// All references outlive it; `upstreams` is set before the first exchange.
struct ExchangeParts {
  net::Worker& worker;
  Downstreams& downstreams;
  ExchangeObserver& observer;
  Identity identity;
  base::TimeoutSettings timeouts;
  base::LimitSettings limits;
  std::uint64_t randomSeed;
  processing::BufferBudget& bufferBudget;
  ClientMemoryTotal& clientMemory;
  processing::BufferBudget& headBudget;  // limits.headerMemoryTotal
};

class Exchanges final : public http::ClientSink, public upstream::WaiterSink, public processing::ResumeSink {
 public:
  explicit Exchanges(ExchangeParts parts);
  ~Exchanges() override;
  void setUpstreams(upstream::Upstreams& upstreams) { upstreams_ = &upstreams; }

  /// Between beats, when every exchange that has a listener has found it: those that exist keep their rules, those
  /// that come find the rules of a new snapshot. `revision` is what was served until now.
  void adopt(const base::TimeoutSettings& timeouts, const base::LimitSettings& limits,
             const base::ForwardedSettings& forwarded, const std::string& revision);

  /// What the values of sessions are sealed and opened by from now on.
  void sealSessions(std::shared_ptr<const pki::ValueSealer> sealer) { sessionSealer_ = std::move(sealer); }

  /// connectionAuth: Refuse, from now on; else such schemes pin the Backend's connection to the client's.
  void refuseConnectionAuth(bool refuse) { refusesConnectionAuth_ = refuse; }
  bool refusesConnectionAuth() const { return refusesConnectionAuth_; }
  /// A client's connection is gone, and with it what was authenticated for it alone.
  void onClientGone(http::Token connection) {
    if (upstreams_ != nullptr) upstreams_->pins().release(connection);
  }

  /// From a good head.
  Exchange& create(const Origin& origin, http::RequestMessage&& request);
  /// From a head that can only be answered.
  Exchange& createRefused(const Origin& origin, const base::Error& error);
  Exchange* find(http::Token token) { return exchanges_.find(base::Handle<Exchange>::fromToken(token)); }
  std::size_t size() const { return exchanges_.size(); }
  template <typename Visit>
  void forEach(Visit&& visit) {
    exchanges_.forEach(visit);
  }

  /// Beats.
  void drive();
  void reap();
  bool quiet() const { return due_.empty() && finished_.empty() && mirrors_.quiet(); }
  /// Everything goes, reported as it stands.
  void shutdown();

  /// For exchanges.
  void schedule(Exchange& exchange);
  net::Worker& worker() { return parts_.worker; }
  Mirrors& mirrors() { return mirrors_; }
  upstream::Upstreams& upstreams() { return *upstreams_; }
  Downstream* downstream(http::Token connection) { return parts_.downstreams.findDownstream(connection); }
  const Identity& identity() const { return parts_.identity; }
  /// nullptr: no sessions.
  const pki::ValueSealer* sessionSealer() const { return sessionSealer_.get(); }
  const base::TimeoutSettings& timeouts() const { return parts_.timeouts; }
  const base::LimitSettings& limits() const { return parts_.limits; }
  ExchangeObserver& observer() { return parts_.observer; }
  void onLimit(std::string_view limit) { parts_.observer.onLimit(limit); }
  processing::BufferRoom& bufferRoom() { return bufferRoom_; }
  ClientMemoryTotal& clientMemory() { return parts_.clientMemory; }
  processing::BufferBudget& headBudget() { return parts_.headBudget; }
  const BodyWindow& bodyWindow() const { return bodyWindow_; }
  base::Random& generator() { return random_; }
  std::uint64_t random() { return random_.next(); }

  // http::ClientSink
  void onInterim(http::Token token, http::ResponseMessage&& message) override;
  void onResponse(http::Token token, http::ResponseMessage&& message) override;
  void onResponseBody(http::Token token, std::string_view bytes) override;
  void onResponseEnd(http::Token token) override;
  void onResponseEnd(http::Token token, http::Trailers&& trailers) override;
  void onResponseReset(http::Token token, const base::Error& error, bool unprocessed) override;
  http::BodyPipe* requestBody(http::Token token) override;
  void onRequestBodyTaken(http::Token token, std::size_t count) override;
  void onRequestSent(http::Token token) override;
  void onLimitHit(http::Limit limit) override;

  // upstream::WaiterSink
  bool onPoolReady(http::Token waiter) override;
  bool onPoolFailed(http::Token waiter, const base::Error& error) override;

  // processing::ResumeSink
  void onResumed(http::Token token, processing::Ticket ticket, bool dropped) override;

 private:
  ExchangeParts parts_;
  BodyWindow bodyWindow_;
  processing::BufferRoom bufferRoom_;  // before the exchanges, which hold shares of it
  upstream::Upstreams* upstreams_ = nullptr;
  Mirrors mirrors_{*this};  // before the exchanges, which tell them when they go
  base::Slab<Exchange> exchanges_;
  std::vector<base::Handle<Exchange>> due_;
  std::vector<base::Handle<Exchange>> batch_;
  std::vector<base::Handle<Exchange>> finished_;
  base::Random random_;
  std::shared_ptr<const pki::ValueSealer> sessionSealer_;
  bool refusesConnectionAuth_ = false;
};

}  // namespace sluice::exchange

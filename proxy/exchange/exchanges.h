// Exchanges holds the exchanges of one worker: their table, their part of the beat, and the sinks by which codecs and
// pools find them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/exchange/authentication/authenticator.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/mirror/mirrors.h"
#include "proxy/exchange/steps/worker_services.h"
#include "proxy/exchange/transaction/context.h"
#include "proxy/pki/sealed_value.h"

namespace sluice::exchange {

class Exchanges final : public ExchangeContext,
                        public http::ClientSink,
                        public upstream::WaiterSink,
                        public processing::ResumeSink,
                        private PasswordSink {
 public:
  explicit Exchanges(ExchangeParts parts) : ExchangeContext(std::move(parts)) {}
  ~Exchanges() override;
  void setUpstreams(upstream::Upstreams& upstreams) {
    upstreams_ = &upstreams;
    upstreams.sinks().serve(upstream::User::kExchange, *this, *this);
  }

  /// Takes a new configuration. Called between beats, when every exchange that has a listener has found it. Exchanges
  /// in flight keep their rules; later ones find the rules of the new snapshot. `revision` is the one served until now.
  void adopt(const base::Settings& settings, const std::string& revision);

  /// Drops the state that the worker kept for processors that are gone.
  void sweepStates() { services_.workerStates().sweep(); }

  /// Sets the sealer of the values of sessions from now on.
  void sealSessions(std::shared_ptr<const pki::ValueSealer> sealer) { sessionSealer_ = std::move(sealer); }

  /// Sets whether connection authentication is refused (connectionAuth: Refuse) from now on. Otherwise such schemes pin
  /// the Backend's connection to the client's.
  void refuseConnectionAuth(bool refuse) { refusesConnectionAuth_ = refuse; }
  /// Sets whether the gateway's own answers name the Backend that fails (errorDetail: Names) from now on.
  void nameBackends(bool name) { namesBackends_ = name; }
  /// Called when a client's connection is gone. Connections that were authenticated for it alone go too.
  void onClientGone(http::Token connection) {
    if (upstreams_ != nullptr) upstreams_->releaseClient(connection);
  }

  /// Makes an exchange from a head that can be served.
  Exchange& create(const ClientStream& client, http::RequestMessage&& request);
  /// Makes an exchange from a head that can only be answered with `error`.
  Exchange& createRefused(const ClientStream& client, const base::Error& error);
  Exchange* find(http::Token token) { return exchanges_.find(base::Handle<Exchange>::fromToken(token)); }
  std::size_t size() const { return exchanges_.size(); }
  template <typename Visit>
  void forEach(Visit&& visit) {
    exchanges_.forEach(visit);
  }

  /// The worker's beat calls these three.
  void drive();
  void reap();
  bool quiet() const { return due_.empty() && finished_.empty() && mirrors_.quiet(); }
  /// Ends every exchange, and reports each in its present state.
  void shutdown();

  // ExchangeContext
  void schedule(Transaction& transaction) override;
  Mirrors& mirrors() override { return mirrors_; }
  Authenticator& authenticator() override { return authenticator_; }
  processing::ResumeSink& resumeSink() override { return *this; }
  processing::Services& services() override { return services_; }

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
  /// upstream::RequestSinks counts limits for all users.
  void onLimitHit(http::Limit) override {}

  // upstream::WaiterSink
  bool onPoolReady(http::Token waiter) override;
  bool onPoolFailed(http::Token waiter, const base::Error& error) override;
  void surveyPlaces(std::uint64_t breaker, upstream::PlaceSurvey& survey) override;
  bool giveWay(const upstream::StalledRequest& stalled, const upstream::PlaceDemand& demand) override;

  // processing::ResumeSink
  void onResumed(http::Token token, processing::Ticket ticket, bool dropped) override;

 private:
  // PasswordSink
  void onPasswordChecked(http::Token exchange, bool right) override;

  Authenticator authenticator_{parts_.worker, parts_.passwords, *this};
  WorkerServices services_{*this};
  Mirrors mirrors_{*this};  // declared before the exchanges, which notify them when they are destroyed
  base::Slab<Exchange> exchanges_;
  std::vector<base::Handle<Exchange>> due_;
  std::vector<base::Handle<Exchange>> batch_;
  std::vector<base::Handle<Exchange>> finished_;
};

}  // namespace sluice::exchange

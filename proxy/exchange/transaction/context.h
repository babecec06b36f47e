// The exchanges and mirrors of one worker share an ExchangeContext: the worker's parts, the settings that a reload may
// change, and access to each other. Exchanges implements it, on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "proxy/base/random.h"
#include "proxy/base/settings.h"
#include "proxy/exchange/transaction/attempt_head.h"
#include "proxy/exchange/transaction/client_memory.h"
#include "proxy/exchange/transaction/downstream.h"
#include "proxy/exchange/transaction/observer.h"
#include "proxy/exchange/tunnel/tunnel_places.h"
#include "proxy/http/date.h"
#include "proxy/net/worker.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/processing/services.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::exchange {

class Authenticator;
class Mirrors;
class PasswordChecks;
class Transaction;

/// All references outlive it; `upstreams` is set before the first exchange.
struct ExchangeParts {
  net::Worker& worker;
  Downstreams& downstreams;
  ExchangeObserver& observer;
  GatewayIdentity identity;
  base::TimeoutSettings timeouts;
  base::LimitSettings limits;
  base::RetryBudgetSettings retryBudget;
  std::uint64_t randomSeed;
  processing::BufferBudget& bufferBudget;
  ClientMemoryTotal& clientMemory;
  processing::BufferBudget& headBudget;  // limits.headerMemoryTotal
  TunnelPlaces& tunnels;
  PasswordChecks& passwords;
  observe::MetricShard& metrics;
};

class ExchangeContext {
 public:
  explicit ExchangeContext(ExchangeParts parts)
      : parts_(std::move(parts)),
        bodyWindow_(bodyWindowOf(parts_.limits)),
        bufferRoom_(parts_.bufferBudget, parts_.worker.clock()),
        random_(parts_.randomSeed) {}
  ExchangeContext(const ExchangeContext&) = delete;
  ExchangeContext& operator=(const ExchangeContext&) = delete;

  net::Worker& worker() { return parts_.worker; }
  upstream::Upstreams& upstreams() { return *upstreams_; }
  Downstream* downstream(http::Token connection) { return parts_.downstreams.findDownstream(connection); }
  const GatewayIdentity& identity() const { return parts_.identity; }
  /// Returns nullptr if there are no sessions.
  const pki::ValueSealer* sessionSealer() const { return sessionSealer_.get(); }
  bool refusesConnectionAuth() const { return refusesConnectionAuth_; }
  bool namesBackends() const { return namesBackends_; }
  const base::TimeoutSettings& timeouts() const { return parts_.timeouts; }
  const base::LimitSettings& limits() const { return parts_.limits; }
  const base::RetryBudgetSettings& retryBudget() const { return parts_.retryBudget; }
  ExchangeObserver& observer() { return parts_.observer; }
  observe::MetricShard& metrics() { return parts_.metrics; }
  void onLimit(std::string_view limit) { parts_.observer.onLimit(limit); }
  processing::BufferRoom& bufferRoom() { return bufferRoom_; }
  ClientMemoryTotal& clientMemory() { return parts_.clientMemory; }
  processing::BufferBudget& headBudget() { return parts_.headBudget; }
  TunnelPlaces& tunnels() { return parts_.tunnels; }
  const BodyWindow& bodyWindow() const { return bodyWindow_; }
  /// Returns the current time for Date; see http::DateText.
  std::string_view date() { return date_.at(worker().clock().wallNow()); }
  base::Random& generator() { return random_; }
  std::uint64_t random() { return random_.next(); }

  /// Has the exchange driven in this beat.
  virtual void schedule(Transaction& transaction) = 0;
  virtual Mirrors& mirrors() = 0;
  virtual Authenticator& authenticator() = 0;
  /// Returns the sink that wakes suspended steps of exchanges.
  virtual processing::ResumeSink& resumeSink() = 0;
  virtual processing::Services& services() = 0;

 protected:
  ~ExchangeContext() = default;

  ExchangeParts parts_;
  BodyWindow bodyWindow_;
  processing::BufferRoom bufferRoom_;
  upstream::Upstreams* upstreams_ = nullptr;
  base::Random random_;
  http::DateText date_;
  std::shared_ptr<const pki::ValueSealer> sessionSealer_;
  bool refusesConnectionAuth_ = false;
  bool namesBackends_ = false;
};

}  // namespace sluice::exchange

// ExchangeChains finds the chains of processors that an exchange goes through, as far as its listener, its rule and its
// Backend are known, and the phases that they have steps of.
#pragma once

#include <cstdint>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/transaction/transaction.h"
#include "proxy/processing/chain.h"

namespace sluice::exchange {

class ExchangeChains {
 public:
  ExchangeChains(const Transaction& transaction, const Attempts& attempts) : t_(transaction), attempts_(attempts) {}

  /// Updates the chains and phases. Called when the route or the Backend has changed.
  void findPhases() {
    const MatchedRoute& route = t_.route;
    const std::uint8_t ofGateway = route.listener != nullptr ? phasesOf(route.listener->chain.get()) : std::uint8_t{0};
    const std::uint8_t ofRule = route.rule != nullptr ? phasesOf(route.rule->chain.get()) : std::uint8_t{0};
    phases_ = ofGateway | ofRule | phasesOf(ofBackend());
  }
  /// Returns the chains of the Gateway, the rule and the Backend.
  processing::Chains all() const {
    const MatchedRoute& route = t_.route;
    return {route.listener != nullptr ? route.listener->chain.get() : nullptr,
            route.rule != nullptr ? route.rule->chain.get() : nullptr, ofBackend()};
  }
  /// Returns the chains of the Gateway and the rule.
  processing::Chains shared() const {
    const processing::Chains chains = all();
    return {chains[0], chains[1], nullptr};
  }

  bool empty() const { return phases_ == 0; }
  bool wants(processing::Phase phase) const { return (phases_ & processing::bitOf(phase)) != 0; }
  bool wantsResponse() const { return (phases_ & kOfResponse) != 0; }
  /// Returns true if there are steps that run once, on the response that is not retried any more, before its head is
  /// sent to the client.
  bool wantsKeptResponse() const { return (phases_ & kOfKeptResponse) != 0; }
  /// Returns true if steps run before the attempt: steps of request-headers or request-body that the Gateway or the
  /// rule has, or that the Backend has before authentication.
  bool haveStepsBeforeAttempt() const;
  /// Returns true if an attempt needs a head of its own, for its steps.
  bool hasAttemptSteps() const { return phases_ != 0 && attemptIsConcerned(); }

 private:
  /// A chain of the weighted backend replaces that of the Backend.
  const processing::Chain* ofBackend() const {
    const routing::WeightedBackend* weighted = attempts_.backend();
    if (weighted == nullptr) return nullptr;
    if (weighted->chain) return weighted->chain.get();
    return weighted->backend ? weighted->backend->chain.get() : nullptr;
  }
  static std::uint8_t phasesOf(const processing::Chain* chain) {
    return chain != nullptr ? chain->phases() : std::uint8_t{0};
  }
  bool attemptIsConcerned() const;

  static constexpr std::uint8_t kOfKeptResponse =
      processing::bitOf(processing::Phase::kResponseHeaders) | processing::bitOf(processing::Phase::kResponseBody);
  static constexpr std::uint8_t kOfResponse = processing::bitOf(processing::Phase::kBackendResponse) | kOfKeptResponse;

  const Transaction& t_;
  const Attempts& attempts_;
  std::uint8_t phases_ = 0;  // phases that have steps, a bit each
};

}  // namespace sluice::exchange

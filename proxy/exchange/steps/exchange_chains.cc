#include "proxy/exchange/steps/exchange_chains.h"

namespace sluice::exchange {

using processing::bitOf;
using processing::Phase;

namespace {

bool hasRequestSteps(const processing::Chain* chain) {
  constexpr std::uint8_t kOfRequest = bitOf(Phase::kRequestHeaders) | bitOf(Phase::kRequestBody);
  return chain != nullptr && (chain->phases() & kOfRequest) != 0;
}

}  // namespace

processing::Chains ExchangeChains::all() const {
  const routing::WeightedBackend* weighted = attempts_.backend();
  const processing::Chain* own = nullptr;
  if (weighted != nullptr && weighted->chain) {
    own = weighted->chain.get();
  } else if (weighted != nullptr && weighted->backend) {
    own = weighted->backend->chain.get();
  }
  const MatchedRoute& route = t_.route;
  return {route.listener != nullptr ? route.listener->chain.get() : nullptr,
          route.rule != nullptr ? route.rule->chain.get() : nullptr, own};
}

void ExchangeChains::findPhases() {
  phases_ = 0;
  for (const processing::Chain* chain : all()) phases_ |= chain != nullptr ? chain->phases() : std::uint8_t{0};
}

bool ExchangeChains::sharedHaveRequestSteps() const {
  const processing::Chains chains = all();
  return hasRequestSteps(chains[0]) || hasRequestSteps(chains[1]);
}

bool ExchangeChains::hasAttemptSteps() const {
  constexpr std::uint8_t kOfAttempt = bitOf(Phase::kConnect) | bitOf(Phase::kBackendRequest);
  return phases_ != 0 && ((phases_ & kOfAttempt) != 0 || hasRequestSteps(all()[2]));
}

}  // namespace sluice::exchange

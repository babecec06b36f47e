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

bool ExchangeChains::haveStepsBeforeAttempt() const {
  const processing::Chains chains = all();
  const processing::Chain* const own = chains[2];
  return hasRequestSteps(chains[0]) || hasRequestSteps(chains[1]) || (own != nullptr && own->hasPreAuthOfRequest());
}

bool ExchangeChains::attemptIsConcerned() const {
  constexpr std::uint8_t kOfAttempt = bitOf(Phase::kConnect) | bitOf(Phase::kBackendRequest);
  return (phases_ & kOfAttempt) != 0 || hasRequestSteps(ofBackend());
}

}  // namespace sluice::exchange

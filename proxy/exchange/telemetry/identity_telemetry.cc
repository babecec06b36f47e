#include "proxy/exchange/telemetry/identity_telemetry.h"

namespace sluice::exchange {

void IdentityTelemetry::onJudged(IdentitySource source, IdentityResult result) {
  observe::Counter*& counter = counters_[static_cast<std::size_t>(source)][static_cast<std::size_t>(result)];
  if (counter == nullptr) {
    counter = &metrics_.at<observe::Metric::kIdentity>(identitySourceName(source), identityResultName(result));
  }
  counter->add();
  if (result == IdentityResult::kRefused && debug_.wants()) {
    debug_.write("a caller has not proven its identity", {{"source", identitySourceName(source)}});
  }
}

}  // namespace sluice::exchange

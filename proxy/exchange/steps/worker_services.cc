#include "proxy/exchange/steps/worker_services.h"

#include "proxy/exchange/steps/callout.h"

namespace sluice::exchange {

std::unique_ptr<processing::Callout> WorkerServices::callout(const processing::CalloutRequest& request,
                                                             const processing::Place& place) {
  return std::make_unique<Callout>(context_, request, place);
}

}  // namespace sluice::exchange

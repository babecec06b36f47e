#include "proxy/exchange/steps/worker_services.h"

#include "proxy/exchange/steps/backend_callout.h"

namespace sluice::exchange {

std::unique_ptr<processing::Callout> WorkerServices::callout(const processing::CalloutRequest& request,
                                                             const processing::Place& place) {
  return std::make_unique<BackendCallout>(context_, request, place);
}

}  // namespace sluice::exchange

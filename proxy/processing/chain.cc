#include "proxy/processing/chain.h"

#include <algorithm>
#include <utility>

namespace sluice::processing {

Chain::Chain(std::vector<Step> steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    if (a.preAuth != b.preAuth) return a.preAuth;
    return a.priority != b.priority ? a.priority < b.priority : a.scope < b.scope;
  });
  for (Step& step : steps) steps_[static_cast<std::size_t>(step.phase)].push_back(std::move(step));
}

Verdict run(const Step& step, Call& call, const Peer& peer) {
  if (!step.failOpen) return step.processor->process(call, peer);
  // Nobody sees what a step wrote before it failed: the lists of fields are copied, never their bytes.
  const http::RequestHead request = call.request;
  call.request.headers = request.headers.copy(call.arena);
  http::ResponseHead response;
  if (call.response != nullptr) {
    response = *call.response;
    call.response->headers = response.headers.copy(call.arena);
  }
  Verdict verdict = step.processor->process(call, peer);
  if (verdict.kind() != Verdict::Kind::kFail) return verdict;
  call.request = request;
  if (call.response != nullptr) *call.response = response;
  return verdict;
}

}  // namespace sluice::processing

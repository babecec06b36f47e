#include "proxy/compile/ground/compiled_chain.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice::compile {
namespace {

bool sameFallback(const processing::StepFallback* a, const processing::StepFallback* b) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a->status != b->status || a->detail != b->detail) return false;
  return a->step == nullptr || b->step == nullptr ? a->step == b->step : sameStep(*a->step, *b->step);
}

}  // namespace

bool sameStep(const processing::Step& a, const processing::Step& b) {
  const auto all = [](const processing::Step& step) {
    return std::tie(step.processor, step.name, step.type, step.phase, step.scope, step.priority, step.failOpen,
                    step.preAuth, step.preRouting, step.timeout, step.body.mode, step.body.bound, step.body.edits,
                    step.body.decoded, step.authorizes, step.server, step.secrets, step.object, step.health);
  };
  return all(a) == all(b) && sameFallback(a.fallback.get(), b.fallback.get());
}

bool sameSteps(const std::vector<processing::Step>& a, const std::vector<processing::Step>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), sameStep);
}

std::shared_ptr<const processing::Chain> chainOf(std::vector<processing::Step> steps) {
  return steps.empty() ? nullptr : std::make_shared<const processing::Chain>(std::move(steps));
}

std::shared_ptr<const processing::Chain> chainOf(std::vector<processing::Step> steps,
                                                 const std::shared_ptr<const processing::Chain>& next) {
  if (next) {
    for (processing::Step& each : next->all()) steps.push_back(std::move(each));
  }
  return chainOf(std::move(steps));
}

bool same(const processing::Chain* a, const processing::Chain* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && sameSteps(a->all(), b->all());
}

}  // namespace sluice::compile

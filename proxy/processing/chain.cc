#include "proxy/processing/chain.h"

#include <algorithm>
#include <utility>

namespace sluice::processing {

Chain::Chain(std::vector<Step> steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    if (comesBefore(a, b) || comesBefore(b, a)) return comesBefore(a, b);
    return a.scope < b.scope;
  });
  for (Step& step : steps) {
    const auto phase = static_cast<std::size_t>(step.phase);
    for (const Round round : {roundOf(step), Round::kBoth}) {
      phases_[static_cast<std::size_t>(round)] |= bitOf(step.phase);
    }
    preAuth_[phase] += roundOf(step) == Round::kFirst ? 1 : 0;
    authorizing_[phase] += roundOf(step) == Round::kAuthorization ? 1 : 0;
    for (const Step* each = &step; each != nullptr; each = each->standIn()) {
      step.ownsFields = step.ownsFields || !each->processor->ownedFields().empty();
      if (hasBody(each->phase) && each->body.mode != BodyMode::kNone) bodyPhases_ |= bitOf(each->phase);
      const auto targets = each->processor->targets();
      targets_.insert(targets_.end(), targets.begin(), targets.end());
    }
    steps_[phase].push_back(std::move(step));
  }
}

bool Chain::contains(const Step& step) const {
  const std::span<const Step> steps = of(step.phase);
  return std::any_of(steps.begin(), steps.end(), [&](const Step& own) {
    const Step* each = &own;
    while (each != nullptr && !isSameStep(*each, step)) each = each->standIn();
    return each != nullptr;
  });
}

bool Chain::wantsBodyPreAuth() const {
  const std::span<const Step> steps = of(Phase::kRequestBody, Round::kFirst);
  return std::any_of(steps.begin(), steps.end(), [](const Step& own) {
    const Step* each = &own;
    while (each != nullptr && each->body.mode == BodyMode::kNone) each = each->standIn();
    return each != nullptr;
  });
}

std::vector<Step> Chain::all() const {
  std::vector<Step> steps;
  for (const std::vector<Step>& each : steps_) steps.insert(steps.end(), each.begin(), each.end());
  return steps;
}

}  // namespace sluice::processing

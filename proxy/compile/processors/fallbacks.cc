#include "proxy/compile/processors/fallbacks.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "config/catalog/catalog.h"
#include "proxy/base/text.h"

namespace sluice::compile {
namespace {

using processing::Phase;
using processing::Step;

/// Returns the step that may run in the place of one of that phase and round; nullptr if there is none.
const Step* findStandIn(const std::vector<Step>& standIns, Phase phase, processing::Round round) {
  const auto found = std::find_if(standIns.begin(), standIns.end(), [&](const Step& each) {
    return each.phase == phase && processing::roundOf(each) == round;
  });
  return found != standIns.end() ? &*found : nullptr;
}

Step inPlaceOf(std::int32_t priority, const Step& standIn) {
  Step copy = standIn;
  copy.priority = priority;
  copy.ownsFields = !copy.processor->ownedFields().empty();
  return copy;
}

/// Gives the answer that stands in for a use that cannot run.
class FallbackAnswer final : public processing::PreAuthProcessor {
 public:
  explicit FallbackAnswer(base::Error error) : error_(std::move(error)) {}
  processing::Verdict process(processing::Call& /*call*/) const override {
    return processing::Verdict::reply({error_});
  }

 private:
  const base::Error error_;
};

Step answering(const config::ProcessorUse& use, const UsesOf& of, Phase phase, bool preAuth,
               const std::string& writtenIn) {
  base::Error error(base::ErrorType::kProcessorFailed, base::ErrorOrigin::kProcessor, use.fallback->detail);
  error.status = use.fallback->status;
  Step step;
  step.processor = std::make_shared<const FallbackAnswer>(std::move(error));
  step.name = use.name;
  step.type = use.type;
  step.scope = of.scope;
  step.priority = use.priority.value_or(0);
  step.preRouting = of.preRouting;
  step.phase = phase;
  step.preAuth = preAuth;
  step.object = eventObject(writtenIn);
  return step;
}

}  // namespace

const config::ProcessorUse* standInOf(const config::ProcessorUse& use, const std::vector<config::ProcessorUse>& list) {
  if (!use.fallback || use.fallback->use.empty()) return nullptr;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&use](const config::ProcessorUse& each) { return each.name == use.fallback->use; });
  return found != list.end() ? &*found : nullptr;
}

bool standsIn(const config::ProcessorUse& use, const std::vector<config::ProcessorUse>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](const config::ProcessorUse& each) { return standInOf(each, list) == &use; });
}

std::optional<Fault> setFallback(const config::ProcessorUse& use, std::vector<Step>& steps,
                                 const std::vector<Step>& standIns) {
  if (!use.fallback) return std::nullopt;
  bool fits = standIns.empty();
  for (Step& step : steps) {
    processing::StepFallback fallback{nullptr, use.fallback->status, use.fallback->detail};
    step.failOpen = false;
    if (!use.fallback->use.empty()) {
      const Step* const found = findStandIn(standIns, step.phase, processing::roundOf(step));
      if (found == nullptr) continue;
      fits = step.failOpen = true;
      fallback.step = std::make_shared<const Step>(inPlaceOf(step.priority, *found));
      step.secrets.insert(found->secrets.begin(), found->secrets.end());
    }
    step.fallback = std::make_shared<const processing::StepFallback>(std::move(fallback));
  }
  if (fits || use.fallback->use.empty()) return std::nullopt;
  return fault(config::processor_reason::kUnsupportedPhase, use.path + ".fallback.use",
               base::quote(use.fallback->use) + " runs in no phase of this use, or in another round there");
}

void addRefused(const config::ProcessorUse& use, const UsesOf& of, const RefusedPlace& place, RefusedUse why,
                CompiledUses standIn, CompiledUses& result) {
  std::vector<Step> instead;
  const Phase first = place.phases != 0 ? static_cast<Phase>(std::countr_zero(place.phases)) : Phase::kRequestHeaders;
  const bool preAuth = place.preAuth && first <= Phase::kRequestBody;
  const bool answers = use.fallback && use.fallback->use.empty();
  if (answers) instead.push_back(answering(use, of, first, preAuth, why.writtenIn));
  for (const Step& each : standIn.steps) {
    const bool runsThere = (place.phases & processing::bitOf(each.phase)) != 0;
    if (runsThere && each.preAuth == (place.preAuth && each.phase <= Phase::kRequestBody)) {
      instead.push_back(inPlaceOf(place.priority, each));
    }
  }
  std::uint8_t covered = 0;
  for (const Step& each : instead) covered |= processing::bitOf(each.phase);
  const bool isCovered = answers || (place.phases != 0 && covered == place.phases);
  if (!isCovered) instead.clear();
  if (use.fallback) why.open = isCovered;
  standIn.steps = std::move(instead);
  standIn.refused.insert(standIn.refused.begin(), std::move(why));
  result.append(std::move(standIn));
}

}  // namespace sluice::compile

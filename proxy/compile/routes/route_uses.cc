#include "proxy/compile/routes/route_uses.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/compile/processors/refused_uses.h"

namespace sluice::compile {
namespace {

/// Returns true if the fault is about a reference to the server of a use, such as that of an ExternalAuth filter.
bool isOfReference(const Fault& fault) {
  namespace reason = config::reason;
  const std::string_view all[] = {reason::kBackendNotFound, reason::kInvalidKind, reason::kRefNotPermitted,
                                  reason::kUnsupportedProtocol};
  return std::find(std::begin(all), std::end(all), fault.reason) != std::end(all);
}

}  // namespace

CompiledUses usesFor(const ProcessorCompiler& processors, const UsesQuestion& question, RoutePlan& plan) {
  if (!plan.processed && question.filters->empty()) return {};
  FoundUses found = findUses(processors, plan.route->meta, question);
  noteOnce(plan.refusedFilters, found.refusedFilters);
  const std::string own = objectName(plan.holder(), plan.route->meta.name);
  for (const RefusedUse& each : found.refusedFilters) {
    if (each.writtenIn == own && isOfReference(each.fault)) plan.unresolved.push_back(each.fault);
  }
  CompiledUses uses = found.uses;
  plan.asked.push_back({question, std::move(found)});
  return uses;
}

std::vector<processing::Step> takeSteps(CompiledUses uses, RoutePlan& plan, std::optional<Fault>& fault) {
  plan.refused.insert(plan.refused.end(), uses.refused.begin(), uses.refused.end());
  for (const Fault& each : uses.open()) plan.notes.push_back(noteOf(withConsequence(each, kLeftOut)));
  if (!fault) fault = joined(uses.closed());
  return std::move(uses.steps);
}

}  // namespace sluice::compile

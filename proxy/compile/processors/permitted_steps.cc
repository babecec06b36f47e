#include "proxy/compile/processors/permitted_steps.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "proxy/routing/backend_target.h"

namespace sluice::compile {

namespace {

/// Only the settings can name servers that are not objects.
bool isHook(const processing::Step& step) {
  const auto& targets = step.processor->targets();
  return std::any_of(targets.begin(), targets.end(),
                     [](const auto& each) { return routing::planOf(*each)->ofSettings; });
}

}  // namespace

PermittedSteps permittedSteps(std::vector<processing::Step> steps, const SecretTrust& trust,
                              const SecretTrust::ToldObject& object) {
  PermittedSteps result;
  for (processing::Step& each : steps) {
    std::optional<Fault> fault = trust.faultOf(each.secrets, object);
    if (!fault) {
      result.steps.push_back(std::move(each));
      continue;
    }
    if (isHook(each)) {
      fault->message = "a hook of the GatewayClass cannot run, because the Pods may not read a Secret that it uses";
    } else {
      fault->message.insert(0, "processor " + each.name + ": ");
    }
    // The step that stands in for another one would be left out together with it.
    const bool mayBeLeftOut = each.failOpen && each.standIn() == nullptr;
    std::vector<Fault>& known = mayBeLeftOut ? result.open : result.closed;
    if (std::find(known.begin(), known.end(), *fault) == known.end()) known.push_back(*std::move(fault));
  }
  return result;
}

CompiledUses permittedUses(CompiledUses uses, const SecretTrust& trust, const config::ObjectMeta& gateway) {
  const std::string owner = objectName(holderOf(gateway), gateway.name);
  PermittedSteps permitted = permittedSteps(std::move(uses.steps), trust, {gateway.nameSpace});
  uses.steps = std::move(permitted.steps);
  const auto refuse = [&](std::vector<Fault> faults, bool open) {
    for (Fault& each : faults) uses.refused.push_back({owner, {}, std::move(each), open});
  };
  refuse(std::move(permitted.closed), false);
  refuse(std::move(permitted.open), true);
  std::erase_if(uses.shielded, [&](const ShieldedUse& each) {
    PermittedSteps one = permittedSteps({each.step}, trust, {gateway.nameSpace});
    refuse(std::move(one.closed), false);
    refuse(std::move(one.open), true);
    return one.steps.empty();
  });
  return uses;
}

base::ObjectNames secretsUsedBy(const CompiledUses& uses) {
  base::ObjectNames secrets;
  const auto add = [&](const base::ObjectNames& names) { secrets.insert(names.begin(), names.end()); };
  for (const processing::Step& each : uses.steps) add(each.secrets);
  for (const ShieldedUse& each : uses.shielded) add(each.step.secrets);
  for (const RefusedUse& each : uses.refused) add(each.secrets);
  return secrets;
}

}  // namespace sluice::compile

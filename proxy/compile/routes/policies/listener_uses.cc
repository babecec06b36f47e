#include "proxy/compile/routes/policies/listener_uses.h"

#include <utility>

#include "proxy/compile/ground/secret_trust.h"
#include "proxy/compile/processors/permitted_steps.h"

namespace sluice::compile {

CompiledUses usesAtGateway(CompiledUses uses, const config::Model& model, const config::Gateway& gateway,
                           HandedDown& result) {
  result.secrets = secretsUsedBy(uses);
  uses = permittedUses(std::move(uses), SecretTrust(model, gateway), gateway.meta);
  result.refused = uses.refused;
  result.closing = uses.closed();
  result.told = result.closing;
  for (const Fault& each : uses.open()) result.told.push_back(withConsequence(each, kLeftOut));
  return uses;
}

}  // namespace sluice::compile

// Takes the uses of payload processors that a Gateway runs because of policies for it or for one of its listeners.
#pragma once

#include "config/model/model.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

/// Adds the faults and the Secrets of uses to `result`, and returns the uses without those whose Secrets the Pods of
/// the Gateway may not read.
CompiledUses usesAtGateway(CompiledUses uses, const config::Model& model, const config::Gateway& gateway,
                           HandedDown& result);

}  // namespace sluice::compile

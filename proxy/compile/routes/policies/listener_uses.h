// The uses of payload processors that a Gateway runs by what targets it or one of its listeners.
#pragma once

#include "config/model/model.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

/// Puts the faults and the Secrets of uses into `result`, and returns the uses without those whose Secrets the Pods of
/// the Gateway may not read.
CompiledUses usesAtGateway(CompiledUses uses, const config::Model& model, const config::Gateway& gateway,
                           HandedDown& result);

}  // namespace sluice::compile

// Removes the steps whose Secrets the Pods of a Gateway may not read (secret_trust.h) from a chain or from compiled
// uses.
//
// These are pure functions.
#pragma once

#include <vector>

#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/processing/chain.h"

namespace sluice::compile {

struct PermittedSteps {
  std::vector<processing::Step> steps;
  std::vector<Fault> closed;  // faults of steps that fail closed; their requests answer 500
  std::vector<Fault> open;    // faults of steps that fail open and are left out
};

/// A use with several phases has one fault. The fault of a hook of the GatewayClass discloses only that the hook cannot
/// run.
PermittedSteps permittedSteps(std::vector<processing::Step> steps, const SecretTrust& trust,
                              const SecretTrust::ToldObject& object);
/// Does the same for the uses of a Gateway, which are refused there.
CompiledUses permittedUses(CompiledUses uses, const SecretTrust& trust, const config::ObjectMeta& gateway);

/// Returns the Secrets that uses read, or would read if they could run.
base::ObjectNames secretsUsedBy(const CompiledUses& uses);

}  // namespace sluice::compile

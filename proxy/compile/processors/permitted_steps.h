// Takes out of a chain, or of compiled uses, the steps whose Secrets the Pods of a Gateway may not read
// (secret_trust.h).
//
// Pure functions.
#pragma once

#include <vector>

#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/processing/chain.h"

namespace sluice::compile {

struct PermittedSteps {
  std::vector<processing::Step> steps;
  std::vector<Fault> closed;  // of steps that fail closed: what they are for answers 500
  std::vector<Fault> open;    // of those that are left out, because they fail open
};

/// A use with several phases has one fault. Of a hook of the GatewayClass nothing is told but that it cannot run.
PermittedSteps permittedSteps(std::vector<processing::Step> steps, const SecretTrust& trust,
                              const SecretTrust::ToldObject& object);
/// Does the same with the uses of a Gateway, which has them refused.
CompiledUses permittedUses(CompiledUses uses, const SecretTrust& trust, const config::ObjectMeta& gateway);

/// Returns the Secrets that uses are made of, or would be if they could run.
base::ObjectNames secretsUsedBy(const CompiledUses& uses);

}  // namespace sluice::compile

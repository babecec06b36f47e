// Finds out by which terms a Gateway learns who its callers are: those of its class, which the Gateway's parameters may
// narrow, or those of its parameters if the class has none.
//
// This is a pure function.
#pragma once

#include <optional>

#include "config/model/model.h"
#include "proxy/base/identity_terms.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

struct EffectiveIdentity {
  base::IdentityTerms terms;  // those that take effect
  /// The fault (InvalidParameters) of parameters that want more than the class allows. The terms are the class's then.
  std::optional<Fault> wider = std::nullopt;
};

/// A Gateway of a class with identity may leave out the source and some of its trust domains. The header of the class
/// stays, because Backends rely on it that clients cannot set it.
EffectiveIdentity identityOf(const config::Model& model, const config::Gateway& gateway);

}  // namespace sluice::compile

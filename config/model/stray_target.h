// The targets of policies whose kinds do not exist, such as misspelt ones.
#pragma once

#include <string>

#include "config/model/policy_model.h"

namespace sluice::config {

/// Returns true if the target's kind is none through which requests could pass. It is not known which object it was
/// written for, so every object of that name has to be taken for it.
bool isStray(const PolicyTarget& target);
/// Returns true for a selector of such a kind. Every object with these labels has to be taken for one that is selected.
bool isStray(const PolicyTargetSelector& selector);
/// Returns a hint at the kind that a stray target was probably written for: "; did you mean HTTPRoute of
/// gateway.networking.k8s.io?". Empty if none is near.
std::string nearestTargetKind(const PolicyTarget& target);
std::string nearestTargetKind(const PolicyTargetSelector& selector);

}  // namespace sluice::config

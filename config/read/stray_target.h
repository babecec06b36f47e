// The targets and selectors of policies whose kinds do not exist, such as misspelt ones.
#pragma once

#include <string>

#include "config/model/policy_model.h"

namespace sluice::config {

/// Returns true for a kind that is none through which requests could pass. It is not known which objects it was written
/// for, so every object with the name of the target, or the labels of the selector, has to be taken for one of them. A
/// kind that is not legible is not stray: it means all.
bool isStray(const PolicyTargetKind& kind);
/// Returns a hint at the kind that a stray one was probably written for: "; did you mean HTTPRoute of
/// gateway.networking.k8s.io?". Empty if none is near, and for a kind that is not stray.
std::string nearestTargetKind(const PolicyTargetKind& kind);

}  // namespace sluice::config

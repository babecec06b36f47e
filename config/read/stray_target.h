// Finds targets and selectors of policies whose kinds do not exist, for example because they are misspelt.
#pragma once

#include <string>

#include "config/model/policy_model.h"

namespace sluice::config {

/// Returns true if requests cannot pass through objects of the kind. The objects that it was meant for are not known.
/// So every object with the name of the target, or with the labels of the selector, must be treated as one of them. A
/// kind that could not be read is not stray, because it means all kinds.
bool isStray(const PolicyTargetKind& kind);
/// Returns a hint that names the kind for which a stray one was probably meant: "; did you mean HTTPRoute of
/// gateway.networking.k8s.io?". Empty if none is close, or if the kind is not stray.
std::string nearestTargetKind(const PolicyTargetKind& kind);

}  // namespace sluice::config

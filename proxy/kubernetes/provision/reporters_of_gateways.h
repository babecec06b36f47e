// Decides by the Gateways of a configuration whose reports are trusted (lease/reporters.h).
//
// Pure functions.
#pragma once

#include <string>

#include "config/model/model.h"
#include "proxy/kubernetes/lease/reporters.h"

namespace sluice::kubernetes {

/// `home` is the namespace of the controller. If `keepsPods` is true, the controller runs the Pods of the Gateways of
/// our class.
Reporters reportersOf(const config::Model& model, const std::string& home, bool keepsPods);

}  // namespace sluice::kubernetes

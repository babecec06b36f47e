// Hands the number of a Deployment's Pods over to its autoscaler. A field that its only manager does not apply any more
// gets its default, which is one Pod. So another manager takes the number before the controller gives it up.
//
// A pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/content/value.h"

namespace sluice::kubernetes {

/// The manager that holds the number until the autoscaler changes it.
inline constexpr std::string_view kCountManager = "sluice-autoscaling";

/// Returns the body of an apply by kCountManager that keeps the present number; nullopt if the number is not that of
/// `manager`.
std::optional<std::string> keptPodCount(const content::Value& deployment, std::string_view manager);

}  // namespace sluice::kubernetes

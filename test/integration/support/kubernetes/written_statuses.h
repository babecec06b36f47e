// The statuses of objects as `sluice` prints them and as an API server has them, in a form in which they can be
// compared field for field.
#pragma once

#include <map>
#include <string>

#include "test/integration/support/kubernetes/kubectl.h"

namespace sluice::test {

/// The kinds with a status that a KubeApiServer with the tests' CRDs has, as an argument of kubectl.
std::string kindsWithStatus();

/// By object ("HTTPRoute.gateway.networking.k8s.io demo/web"): its status as JSON with sorted members, without
/// observedGeneration and lastTransitionTime, without lists that are empty and without conditions about replicas.
/// Conditions are in the order of their types.
using StatusByObject = std::map<std::string, std::string>;

/// Reads the output of `sluice validate -o json`, or /status.
StatusByObject statusesIn(const std::string& document);
/// Reads all objects of an API server.
StatusByObject statusesAt(const Kubectl& kubectl);

/// Returns the resourceVersion of each object with a status.
std::map<std::string, std::string> versionsAt(const Kubectl& kubectl);

/// Returns the differences as a readable text; empty if there are none.
std::string differences(const StatusByObject& expected, const StatusByObject& found);

}  // namespace sluice::test

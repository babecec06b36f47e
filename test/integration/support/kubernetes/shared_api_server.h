// API servers that the tests of one process share, so that a start and the installation of kinds are paid for once.
#pragma once

#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"

namespace sluice::test {

/// CustomResourceDefinitions that a server has.
enum class InstalledKinds { kGatewayApi, kGatewayApiAndOurs };

/// Returns when the server serves these kinds; takes two to three seconds.
void installKinds(const Kubectl& kubectl, InstalledKinds kinds);

/// Returns a server with these kinds, and with no object but those of a new one. Whoever uses it neither ends it nor
/// changes its CustomResourceDefinitions, because it serves other tests afterwards. Main thread.
KubeApiServer& sharedApiServer(InstalledKinds kinds);

}  // namespace sluice::test

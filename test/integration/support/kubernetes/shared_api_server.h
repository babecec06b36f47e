// API servers with kinds that are installed once for all tests of a process, and servers that these tests share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/kubernetes/kube_api_server.h"

namespace sluice::test {

/// CustomResourceDefinitions that a server has.
enum class InstalledKinds { kGatewayApi, kGatewayApiAndOurs };

/// Returns a server of the caller's own with these kinds. `options` are those of KubeApiServer. They are installed once
/// in a process, and each server begins with a copy of the data that was stored then. Main thread.
std::unique_ptr<KubeApiServer> ownApiServer(InstalledKinds kinds, std::vector<std::string> options = {});

/// Returns a server with these kinds, and with no object but those of a new one. A test neither ends it nor changes its
/// CustomResourceDefinitions, because it serves other tests afterwards. Main thread.
KubeApiServer& sharedApiServer(InstalledKinds kinds);

}  // namespace sluice::test

#include "test/integration/support/kubernetes/pod_network.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <vector>

#include "test/integration/support/child_process.h"

namespace sluice::test {
namespace {

void runIp(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ip");
  const ProgramOutcome outcome = run(arguments);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
}

}  // namespace

std::string PodNetwork::obstacle() {
  for (const char* tool : {"ip", "python3", "setpriv", "nsenter"}) {
    if (!isInstalled(tool)) return std::string(tool) + " is not installed: test/support/install.sh test";
  }
  if (geteuid() != 0) return "only root can make networks and roots for Pods";
  const ProgramOutcome tried =
      run({"unshare", "--net", "--mount", "ip", "link", "add", "pod0", "type", "veth", "peer", "name", "pod1"});
  return tried.exitCode == 0 ? "" : "this machine allows no namespaces: " + tried.errors;
}

PodNetwork::PodNetwork() : before_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
  EXPECT_EQ(unshare(CLONE_NEWNET), 0);
  runIp({"link", "set", "lo", "up"});
  runIp({"link", "add", kBridge, "type", "bridge"});
  runIp({"address", "add", std::string(kAddress) + "/16", "dev", kBridge});
  runIp({"link", "set", kBridge, "up"});
}

PodNetwork::~PodNetwork() {
  EXPECT_EQ(setns(before_, CLONE_NEWNET), 0);
  close(before_);
}

}  // namespace sluice::test

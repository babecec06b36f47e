// A cluster for one test: kapi with RBAC, and test/support/kube/stand_in for the parts that kapi lacks. Pods are
// processes of this machine. Main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/kubernetes/pod_network.h"

namespace sluice::test {

class StandInCluster {
 public:
  /// `images` are programs by the names of images: "sluice:1=/path/to/sluice". Returns when Pods can be made.
  explicit StandInCluster(const std::vector<std::string>& images);
  /// Ends the Pods; it is a test failure if that leaves a network behind.
  ~StandInCluster();
  StandInCluster(const StandInCluster&) = delete;
  StandInCluster& operator=(const StandInCluster&) = delete;

  const Kubectl& kubectl() const { return kubectl_; }
  const std::string& kubeconfig() const { return kubeconfig_; }
  /// Returns the text that `jsonpath` ("{.metadata.name}") selects of each Pod with the labels, in the order of their
  /// names.
  std::vector<std::string> ofPods(const std::string& nameSpace, const std::string& labels,
                                  const std::string& jsonpath) const;
  /// Returns when the newest template of a Deployment runs in as many Pods as it should, and no other one does.
  testing::AssertionResult isRolledOut(const std::string& nameSpace, const std::string& deployment) const;
  /// Ends the process of a Pod's container by SIGKILL.
  void killProcessOf(const std::string& nameSpace, const std::string& pod) const;
  /// Stops the process of a Pod's container, which keeps its connections, or lets it go on.
  void stopProcessOf(const std::string& nameSpace, const std::string& pod) const;
  void continueProcessOf(const std::string& nameSpace, const std::string& pod) const;
  /// Calls `act` while the API server does not answer.
  void withoutServer(const std::function<void()>& act);
  /// Returns how many Pods have a network.
  static std::size_t networks();
  /// Returns the logs of all Pods and of the stand-in so far.
  std::string logs() const;

 private:
  void signalProcessOf(const std::string& nameSpace, const std::string& pod, int signal) const;

  const PodNetwork network_;
  const TempDir folder_;
  KubeApiServer server_{{"--authorization-mode", "RBAC"}, PodNetwork::kAddress};
  const std::string kubeconfig_ = server_.kubeconfig();
  const Kubectl kubectl_{kubeconfig_};
  std::unique_ptr<ChildProcess> standIn_;
};

}  // namespace sluice::test

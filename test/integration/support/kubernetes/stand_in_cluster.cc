#include "test/integration/support/kubernetes/stand_in_cluster.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

constexpr std::string_view kProcess = "process://";  // the prefix of the id of a container that the stand-in runs

std::vector<std::string> standInCommand(const std::string& kubeconfig, const std::string& folder,
                                        const std::vector<std::string>& images) {
  // Without -B there would be compiled files among the sources.
  std::vector<std::string> argv = {"python3", "-B", SLUICE_SOURCE_DIR "/test/support/kube/stand_in"};
  for (const std::string& each : {std::string("--kubeconfig"), kubeconfig, std::string("--folder"), folder,
                                  std::string("--bridge"), std::string(PodNetwork::kBridge)}) {
    argv.push_back(each);
  }
  for (const std::string& each : images) {
    argv.emplace_back("--image");
    argv.push_back(each);
  }
  return argv;
}

}  // namespace

StandInCluster::StandInCluster(const std::vector<std::string>& images) {
  standIn_ = std::make_unique<ChildProcess>(standInCommand(kubeconfig_, folder_.path(), images));
  EXPECT_TRUE(standIn_->waitForLine("ready")) << standIn_->errors();
}

StandInCluster::~StandInCluster() {
  standIn_->signal(SIGTERM);
  EXPECT_EQ(standIn_->wait(), 0) << standIn_->errors();
  EXPECT_EQ(networks(), 0u);
}

std::vector<std::string> StandInCluster::ofPods(const std::string& nameSpace, const std::string& labels,
                                                const std::string& jsonpath) const {
  std::istringstream in(kubectl_.expect({"get", "pods", "-n", nameSpace, "-l", labels, "-o",
                                         "jsonpath={range .items[*]}" + jsonpath + "{\"\\n\"}{end}"}));
  std::vector<std::string> values;
  for (std::string line; std::getline(in, line);) values.push_back(line);
  return values;
}

testing::AssertionResult StandInCluster::isRolledOut(const std::string& nameSpace,
                                                     const std::string& deployment) const {
  const ProgramOutcome outcome =
      kubectl_.run({"rollout", "status", "-n", nameSpace, "deployment/" + deployment, "--timeout=100s"});
  if (outcome.exitCode == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << outcome.output << outcome.errors << kubectl_.run({"get", "pods", "-A"}).output
                                     << logs();
}

void StandInCluster::killProcessOf(const std::string& nameSpace, const std::string& pod) const {
  signalProcessOf(nameSpace, pod, SIGKILL);
}

void StandInCluster::stopProcessOf(const std::string& nameSpace, const std::string& pod) const {
  signalProcessOf(nameSpace, pod, SIGSTOP);
}

void StandInCluster::continueProcessOf(const std::string& nameSpace, const std::string& pod) const {
  signalProcessOf(nameSpace, pod, SIGCONT);
}

void StandInCluster::signalProcessOf(const std::string& nameSpace, const std::string& pod, int signal) const {
  const std::string id = kubectl_.get("pod", nameSpace, pod, "{.status.containerStatuses[0].containerID}");
  ASSERT_TRUE(id.starts_with(kProcess)) << id;
  EXPECT_EQ(::kill(std::stoi(id.substr(kProcess.size())), signal), 0);
}

void StandInCluster::withoutServer(const std::function<void()>& act) {
  server_.process().signal(SIGSTOP);
  act();
  server_.process().signal(SIGCONT);
}

std::size_t StandInCluster::networks() {
  const std::string ports = run({"ip", "-oneline", "link", "show", "master", PodNetwork::kBridge}).output;
  return static_cast<std::size_t>(std::count(ports.begin(), ports.end(), '\n'));
}

std::string StandInCluster::logs() const {
  std::string text = standIn_->errors();
  for (const auto& each : std::filesystem::directory_iterator(folder_.path())) {
    if (each.path().extension() != ".log") continue;
    text += each.path().filename().string() + ":\n" + readFile(each.path()) + "\n";
  }
  return text;
}

}  // namespace sluice::test

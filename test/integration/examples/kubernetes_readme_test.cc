// Tests that the commands of examples/kubernetes/README.md lead from an empty cluster to working egress. A real API
// server takes those of kubectl; the test plays the remaining parts of a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/kubernetes/kustomize_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kReadmeImage = "registry.example.com/sluice:0.1.0";

/// Returns the indented lines.
std::vector<std::string> commandsToInstall() {
  std::istringstream lines(readFile(SLUICE_SOURCE_DIR "/examples/kubernetes/README.md"));
  std::vector<std::string> commands;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) commands.push_back(line.substr(4));
  }
  return commands;
}

class KubernetesReadme : public KustomizeTest {
 protected:
  /// Runs a command as a user of this cluster does, with the program of this build.
  ProgramOutcome runInShell(std::string command) const {
    const std::string program = "build/release/sluice";
    if (const std::size_t at = command.find(program); at != std::string::npos) {
      command.replace(at, program.size(), programPath("sluice"));
    }
    const std::string kubectlFolder = std::filesystem::path(kapiProgram("kubectl")).parent_path().string();
    return run({"/usr/bin/env", "PATH=" + kubectlFolder + ":/usr/bin:/bin", "HOME=" + home_.path(), "KUBERC=off",
                "KUBECONFIG=" + server().kubeconfig(), "bash", "-c",
                "set -e -o pipefail; cd " SLUICE_SOURCE_DIR "; " + command});
  }
  void expectToRun(const std::string& command) const {
    const ProgramOutcome outcome = runInShell(command);
    EXPECT_EQ(outcome.exitCode, 0) << command << "\n" << outcome.output << outcome.errors;
  }

 private:
  TempDir home_;
};

TEST(KubernetesReadmeText, HasTheCommandsThatTheTestsKnow) {
  const std::string page = readFile(SLUICE_SOURCE_DIR "/examples/kubernetes/README.md");
  EXPECT_THAT(commandsToInstall(),
              ElementsAre(StartsWith("kubectl apply --server-side -f https://"),
                          StartsWith("config/image/build.sh && "), StartsWith("build/release/sluice manifests "),
                          StartsWith("kubectl wait "), StartsWith("kubectl apply -k "), StartsWith("kubectl wait "),
                          StartsWith("kubectl wait "), StartsWith("kubectl port-forward "), StartsWith("curl "),
                          StartsWith("kubectl get "), "examples/kubernetes/run.sh"));
  for (const char* each : {"config/image/build.sh", "examples/kubernetes/run.sh", "examples/quickstart/run.sh"}) {
    EXPECT_THAT(page, HasSubstr(each));
    const auto mode = std::filesystem::status(std::string(SLUICE_SOURCE_DIR "/") + each).permissions();
    EXPECT_NE(mode & std::filesystem::perms::owner_exec, std::filesystem::perms::none) << each;
  }
  const std::vector<std::string> commands = commandsToInstall();
  EXPECT_THAT(commands.at(0), HasSubstr("/kubernetes-sigs/gateway-api/releases/download/v1.6.1/standard-install.yaml"));
  EXPECT_THAT(readFile(SLUICE_SOURCE_DIR "/test/support/kube/crds/gateway.networking.k8s.io_gateways.yaml"),
              HasSubstr("bundle-version: v1.6.1\n"))
      << "the README installs the version that is tested";
  EXPECT_THAT(run({SLUICE_SOURCE_DIR "/config/image/build.sh", "--help"}).output,
              AllOf(HasSubstr("(build/image/sluice.tar)"),
                    HasSubstr("skopeo copy oci-archive:build/image/sluice.tar docker://")))
      << "where the image is";
  EXPECT_THAT(commands.at(1), HasSubstr(" oci-archive:build/image/sluice.tar docker://" + std::string(kReadmeImage)));
}

TEST_F(KubernetesReadme, LeadsFromAnEmptyClusterToAWayOut) {
  const std::vector<std::string> commands = commandsToInstall();
  ASSERT_EQ(commands.size(), 11U);
  std::string kinds = commands[0];  // there may be no network: the tests have the same files
  kinds.replace(kinds.find("https://"), std::string::npos, "test/support/kube/crds");
  expectToRun(kinds);
  expectToRun(commands[2]);
  EXPECT_THAT(imagesOfTheController("sluice-system"), StartsWith(std::string(kReadmeImage) + " "));
  const ClusterProcess controller({"controller", "--image", kReadmeImage}, controllersKubeconfig("sluice-system"));
  for (const std::size_t each : {3, 4, 5}) expectToRun(commands[each]);
  kubectl().expect({"patch", "deployment", "egress-egress", "-n", "egress-quickstart", "--subresource=status",
                    "--type=merge", "-p", R"({"status":{"conditions":[{"type":"Available","status":"True"}]}})"});
  expectToRun(commands[6]);
  EXPECT_THAT(commands[7], HasSubstr(" -n egress-quickstart service/egress-egress 10080:80 "));
  EXPECT_THAT(commands[8], HasSubstr(" http://127.0.0.1:10080/"));
  EXPECT_EQ(kubectl().get("service", "egress-quickstart", "egress-egress", "{.spec.ports[*].port}"), "80");
  const ProgramOutcome status = runInShell(commands[9]);
  EXPECT_EQ(status.exitCode, 0) << status.errors;
  for (const char* each : {"gateway.gateway.networking.k8s.io/egress ",
                           "httproute.gateway.networking.k8s.io/everything ", "backend.sluice.dev/example "}) {
    EXPECT_THAT(status.output, HasSubstr(each));
  }
}

}  // namespace
}  // namespace sluice::test

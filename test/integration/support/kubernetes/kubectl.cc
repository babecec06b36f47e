#include "test/integration/support/kubernetes/kubectl.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

// The user's own files are not read: neither a kubeconfig nor preferences of kubectl. It ends too soon for Go to
// collect garbage.
std::vector<std::string> environmentOf(const TempDir& folder) {
  return {"HOME=" + folder.path(), "KUBECONFIG=", "KUBERC=off", "GOGC=off", "GOMEMLIMIT=256MiB"};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

std::vector<std::string> Kubectl::command(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv = {kapiProgram("kubectl"), "--kubeconfig", kubeconfig_, "--cache-dir",
                                   std::filesystem::path(kubeconfig_).parent_path() / "kubectl"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

ProgramOutcome Kubectl::run(const std::vector<std::string>& arguments) const {
  ChildProcess process(command(arguments), environmentOf(folder_));
  const int code = process.wait();
  return {code, process.output(), process.errors()};
}

std::string Kubectl::expect(const std::vector<std::string>& arguments) const {
  ProgramOutcome outcome = run(arguments);
  EXPECT_EQ(outcome.exitCode, 0) << "kubectl " << joined(arguments) << "\n" << outcome.errors;
  return std::move(outcome.output);
}

void Kubectl::apply(std::string_view yaml) const {
  expect({"apply", "--server-side", "--force-conflicts", "-f", folder_.write("objects.yaml", yaml)});
}

void Kubectl::create(std::string_view yaml) const { expect({"create", "-f", folder_.write("objects.yaml", yaml)}); }

// A namespace among the objects may have taken others with it before they are deleted.
void Kubectl::remove(std::string_view yaml) const {
  expect({"delete", "--ignore-not-found", "-f", folder_.write("objects.yaml", yaml)});
}

std::string Kubectl::get(const std::string& kind, const std::string& nameSpace, const std::string& name,
                         const std::string& jsonpath) const {
  return expect({"get", kind, name, "--namespace", nameSpace, "--ignore-not-found", "-o", "jsonpath=" + jsonpath});
}

bool Kubectl::waitFor(const std::string& kind, const std::string& nameSpace, const std::string& name,
                      const std::string& jsonpath, const std::string& value, std::chrono::milliseconds patience) const {
  if (value.empty()) return eventually([&] { return get(kind, nameSpace, name, jsonpath).empty(); }, patience);
  // One process watches: polling would take as much of the machine as the awaited work itself.
  const std::vector<std::string> watch =
      command({"get", kind, "--namespace", nameSpace, "--field-selector", "metadata.name=" + name, "--watch", "-o",
               "jsonpath=<" + jsonpath + ">{\"\\n\"}"});
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    ChildProcess watcher(watch, environmentOf(folder_));
    const auto left = until - std::chrono::steady_clock::now();
    if (watcher.waitForLine("<" + value + ">", std::chrono::ceil<std::chrono::milliseconds>(left))) return true;
    // The server has ended the watch, or was away.
  }
  return false;
}

void installGatewayApi(const Kubectl& kubectl) {
  kubectl.expect({"apply", "--server-side", "-f", SLUICE_SOURCE_DIR "/test/support/kube/crds"});
  kubectl.expect({"wait", "--for=condition=Established", "--timeout=100s", "crd", "--all"});
}

}  // namespace sluice::test

// Tests that examples/kubernetes runs with a real API server as its README describes, and that its rights are those
// that the gateway and the controller need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/kubernetes/fault_proxy.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A right to do something with objects of a resource. Its namespace is empty if it is about all of them, its name if
/// it is about each.
struct Right {
  std::string verb;
  std::string resource;  // "gateways.gateway.networking.k8s.io", with "/status" behind it
  std::string nameSpace;
  std::string name;

  auto operator<=>(const Right&) const = default;
};
using Rights = std::set<Right>;

std::string rightText(const Right& right) {
  return right.verb + " " + right.resource + " " + right.nameSpace + "/" + right.name;
}

std::string resourceOf(const std::string& group, const std::string& path) {
  return group.empty() ? path : path + "." + group;
}

/// Returns the texts of a JSON list, which may be missing.
std::vector<std::string> textsIn(const std::string& json) {
  static const std::regex text("\"([^\"]*)\"");
  std::vector<std::string> texts;
  for (auto each = std::sregex_iterator(json.begin(), json.end(), text); each != std::sregex_iterator(); ++each) {
    texts.push_back((*each)[1]);
  }
  return texts;
}

std::vector<std::string> splitBy(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

void addRightsOf(const Kubectl& kubectl, const std::string& kind, const std::string& nameSpace, const std::string& name,
                 Rights& rights) {
  const std::string rules = kubectl.get(
      kind, nameSpace, name, R"({range .rules[*]}{.apiGroups}|{.resources}|{.resourceNames}|{.verbs}{"\n"}{end})");
  for (const std::string& rule : splitBy(rules, '\n')) {
    const std::vector<std::string> parts = splitBy(rule, '|');
    ASSERT_EQ(parts.size(), 4U) << rule;
    std::vector<std::string> names = textsIn(parts[2]);
    if (names.empty()) names.emplace_back();
    for (const std::string& group : textsIn(parts[0])) {
      for (const std::string& resource : textsIn(parts[1])) {
        for (const std::string& each : names) {
          for (const std::string& verb : textsIn(parts[3])) {
            rights.insert({verb, resourceOf(group, resource), kind == "role" ? nameSpace : "", each});
          }
        }
      }
    }
  }
}

/// Returns the rights that the roles give to a ServiceAccount.
Rights grantedTo(const Kubectl& kubectl, const std::string& account) {
  Rights rights;
  const std::string bindings = kubectl.expect(
      {"get", "clusterrolebindings,rolebindings", "--all-namespaces", "-o",
       R"(jsonpath={range .items[*]}{.metadata.namespace}|{.roleRef.kind}|{.roleRef.name}|{.subjects[*].name} {"\n"}{end})"});
  for (const std::string& binding : splitBy(bindings, '\n')) {
    const std::vector<std::string> parts = splitBy(binding, '|');
    if (parts.size() != 4 || (" " + parts[3]).find(" " + account + " ") == std::string::npos) continue;
    addRightsOf(kubectl, parts[1] == "Role" ? "role" : "clusterrole", parts[0].empty() ? "default" : parts[0], parts[2],
                rights);
  }
  return rights;
}

/// Returns the right that a request needs.
Right neededFor(const std::string& head) {
  static const std::regex line("(\\w+) /(?:api|apis/([^/]+))/[^/]+/([^? ]+)(?:\\?([^ ]*))? HTTP.*");
  std::smatch match;
  const std::string first = head.substr(0, head.find("\r\n"));
  EXPECT_TRUE(std::regex_match(first, match, line)) << first;
  const std::string method = match[1];
  const std::string query = match[4];
  std::vector<std::string> path = splitBy(match[3], '/');
  Right right;
  if (path.size() > 2 && path[0] == "namespaces") {
    right.nameSpace = path[1];
    path.erase(path.begin(), path.begin() + 2);
  }
  right.resource = resourceOf(match[2], path[0] + (path.size() > 2 ? "/" + path[2] : ""));
  if (path.size() > 1) right.name = path[1];
  constexpr std::string_view kByName = "fieldSelector=metadata.name%3D";
  if (const std::size_t at = query.find(kByName); at != std::string::npos) {
    const std::size_t begin = at + kByName.size();
    right.name = query.substr(begin, query.find('&', begin) - begin);
  }
  const bool watches = query.find("watch=true") != std::string::npos;
  right.verb = method == "GET"      ? (path.size() > 1 ? "get"
                                       : watches       ? "watch"
                                                       : "list")
               : method == "POST"   ? "create"
               : method == "DELETE" ? "delete"
                                    : "patch";
  return right;
}

/// Returns the requests that came with a token.
Rights neededBy(const FaultProxy& proxy, const std::string& token) {
  Rights rights;
  for (const std::string& head : proxy.heads()) {
    if (head.find(token) != std::string::npos) rights.insert(neededFor(head));
  }
  return rights;
}

bool covers(const Right& granted, const Right& needed) {
  return granted.verb == needed.verb && granted.resource == needed.resource &&
         (granted.nameSpace.empty() || granted.nameSpace == needed.nameSpace) &&
         (granted.name.empty() || granted.name == needed.name);
}

/// Returns those of `these` for which `others` has no counterpart.
template <typename Matches>
std::vector<std::string> without(const Rights& these, const Rights& others, Matches&& matches) {
  std::vector<std::string> left;
  for (const Right& each : these) {
    if (std::none_of(others.begin(), others.end(), [&](const Right& other) { return matches(each, other); })) {
      left.push_back(rightText(each));
    }
  }
  return left;
}

/// Returns the rights that no request has made use of, but for those that wait for something to happen.
std::vector<std::string> unused(const Rights& granted, const Rights& needed) {
  return without(granted, needed, [&](const Right& right, const Right& request) {
    // Only faults are events, and only replicas that report have Leases of their own.
    if (right.resource == "events.events.k8s.io") return true;
    if (right.resource == "leases.coordination.k8s.io" && right.name.empty()) return true;
    // An object of the kind would have its status written.
    const std::size_t status = right.resource.find("/status");
    if (status != std::string::npos) {
      std::string kind = right.resource;
      kind.erase(status, std::string_view("/status").size());
      if (request.resource == kind && request.verb == "watch") return true;
    }
    Right asked = right;
    // A client of a server that streams lists needs no other request for them; an object that is applied may not exist
    // yet.
    if (asked.verb == "list") asked.verb = "watch";
    if (asked.verb == "create" && !asked.name.empty()) asked.verb = "patch";
    return covers(asked, request) || covers(right, request);
  });
}

class KubernetesExample : public KubernetesTest {
 protected:
  /// Returns the content of a file that the example has written.
  std::string fileOf(const std::string& name) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(temporary_.path())) {
      if (entry.path().filename() == name) return readFile(entry.path());
    }
    return {};
  }
  std::string tokenOf(const std::string& account) const {
    const std::string text = fileOf(account + ".kubeconfig");
    constexpr std::string_view kToken = "token: \"";
    const std::size_t at = text.find(kToken);
    if (at == std::string::npos) return "no token";
    const std::size_t begin = at + kToken.size();
    return text.substr(begin, text.find('"', begin) - begin);
  }
  std::vector<std::string> commandWith(const std::string& kubeconfig) const {
    std::vector<std::string> command = example_.command();
    const std::vector<std::string> environment = {
        "KUBECONFIG=" + kubeconfig,          "KUBERC=off",
        "HOME=" + temporary_.path(),         "TMPDIR=" + temporary_.path(),
        "KUBECTL=" + kapiProgram("kubectl"), "SLUICE_CRDS=" SLUICE_SOURCE_DIR "/config/kustomize/crds"};
    command.insert(command.begin() + 1, environment.begin(), environment.end());
    command.push_back("--keep");
    return command;
  }

  TempDir temporary_;
  const ExampleCopy example_{"kubernetes", {"10380", "10343", "9921", "9922", "9923", "9924"}};
};

TEST_F(KubernetesExample, RunsWithTheRightsThatItGrantsAndNeedsThemAll) {
  const std::string tokens = temporary_.write("tokens", "administrator,administrator,1,system:masters\n");
  const KubeApiServer server({"--authorization-mode", "RBAC", "--token-auth-file", tokens});
  const Kubectl kubectl(server.kubeconfig());
  installGatewayApi(kubectl);
  const FaultProxy proxy(server, FaultProxy::Layer::kHttp, FaultProxy::User::kOfTheRequest);
  ChildProcess shell(commandWith(temporary_.write(
      "kubeconfig", kubeconfigOf(proxy.url(), server.dataFolder() + "/ca.crt", "{token: administrator}"))));
  ASSERT_TRUE(shell.waitForLine("Running until Ctrl-C", std::chrono::seconds(120)))
      << shell.output() << shell.errors() << fileOf("gateway.err") << fileOf("controller.err");

  EXPECT_THAT(shell.output(), HasSubstr("<- 200"));
  EXPECT_THAT(shell.output(), HasSubstr("the origin saw: \"authorization: Bearer demo-only-key\""));
  EXPECT_THAT(shell.output(), HasSubstr("the origin saw: \"sni\": \"origin.example.test\""));

  const std::string condition = "].conditions[?(@.type==\"ResolvedRefs\")].status}";
  EXPECT_TRUE(kubectl.waitFor("httproute", "demo", "models", "{.status.parents[0" + condition, "True"));
  EXPECT_TRUE(kubectl.waitFor("backend.sluice.dev", "demo", "models",
                              "{.status.controllers[0].conditions[?(@.type==\"Accepted\")].status}", "True"));
  EXPECT_TRUE(kubectl.waitFor("gatewayclass", "default", "egress",
                              "{.metadata.annotations.sluice\\.dev/supported-extension-kinds}",
                              "sluice-system/egress-extension-kinds"));
  EXPECT_EQ(kubectl.get("gateway", "sluice-system", "egress", "{.status.addresses[0].value}"), "127.0.0.1");
  EXPECT_EQ(kubectl.get("gateway", "sluice-system", "egress", "{.status.listeners[0].attachedRoutes}"), "1");
  EXPECT_THAT(kubectl.get("configmap", "sluice-system", "egress-extension-kinds", "{.data}"),
              HasSubstr("CredentialInjector"));

  for (const std::string account : {"sluice-gateway", "sluice-controller"}) {
    const Rights granted = grantedTo(kubectl, account);
    const Rights needed = neededBy(proxy, tokenOf(account));
    EXPECT_THAT(needed, Not(IsEmpty())) << account;
    EXPECT_THAT(
        without(needed, granted, [](const Right& request, const Right& right) { return covers(right, request); }),
        IsEmpty())
        << account << " asks for more than it may";
    EXPECT_THAT(unused(granted, needed), IsEmpty()) << account << " may do more than it needs";
  }
  for (const std::string log : {"gateway.err", "controller.err"}) {
    EXPECT_THAT(fileOf(log), HasSubstr("\"message\"")) << log;
    EXPECT_THAT(fileOf(log), Not(HasSubstr("HTTP status 403"))) << log;
  }
  shell.signal(SIGTERM);
  EXPECT_EQ(shell.wait(), 130) << shell.errors();
}

}  // namespace
}  // namespace sluice::test

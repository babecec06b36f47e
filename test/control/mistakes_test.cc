// Tests that the mistakes which people make are reported with their place and with a suggestion: each row changes one
// thing in a correct configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/compile/ground/hints.h"
#include "proxy/control/report/configuration_problems.h"

namespace sluice::control {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kRight = R"(apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: egress}
spec: {controllerName: sluice.dev/egress-gateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: infra, name: egress}
spec:
  gatewayClassName: egress
  addresses: [{type: IPAddress, value: 127.0.0.1}]
  listeners:
    - name: http
      protocol: HTTP
      port: 10080
      allowedRoutes: {namespaces: {from: All}}
    - name: other
      protocol: HTTP
      port: 10081
---
apiVersion: sluice.dev/v1alpha1
kind: Backend
metadata: {namespace: demo, name: models}
spec:
  destination:
    type: Fqdn
    fqdn: {hostname: api.example.com}
    ports:
      - {number: 443, protocol: HTTP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: demo, name: web}
spec:
  parentRefs:
    - {namespace: infra, name: egress, sectionName: http}
  hostnames: [web.test]
  rules:
    - matches: [{path: {type: PathPrefix, value: /}}]
      backendRefs:
        - {group: sluice.dev, kind: Backend, name: models, port: 443}
        - {name: svc, port: 80}
---
apiVersion: v1
kind: Service
metadata: {namespace: demo, name: svc}
spec:
  ports: [{name: web, port: 80, targetPort: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: demo, name: svc-1, labels: {kubernetes.io/service-name: svc}}
addressType: IPv4
ports: [{name: web, port: 8080}]
endpoints: [{addresses: [10.0.0.1]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {namespace: shared, name: some}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo}]
  to: [{group: sluice.dev, kind: Backend, name: common}]
)";

std::vector<std::string> problemsIn(const std::string& text) {
  config::TextCache texts;
  ConfigurationCache cache;
  const config::ObjectSet set = config::readTexts({{"c.yaml", text}}, {}, base::Secret("key"), texts);
  const CompiledConfiguration configuration = makeConfiguration(set, nullptr, {}, cache);
  std::vector<std::string> lines;
  for (const config::Problem& each : allProblems(configuration)) lines.push_back(config::render(each));
  return lines;
}

/// One mistake: the first occurrence of `right` becomes `wrong`, and these are all the lines about it.
struct Mistake {
  std::string_view right;
  std::string_view wrong;
  std::string_view lines;
};

std::string mistaken(const Mistake& mistake) {
  std::string text(kRight);
  const std::size_t at = text.find(mistake.right);
  EXPECT_NE(at, std::string::npos) << mistake.right;
  if (at != std::string::npos) text.replace(at, mistake.right.size(), mistake.wrong);
  return text;
}

std::string joinedLines(const std::string& text) {
  std::string all;
  for (const std::string& line : problemsIn(text)) all += (all.empty() ? "" : "\n") + line;
  return all;
}

void expectLines(const std::vector<Mistake>& mistakes) {
  for (const Mistake& each : mistakes) EXPECT_EQ(joinedLines(mistaken(each)), each.lines);
}

constexpr std::string_view kToModels = "group: sluice.dev, kind: Backend, name: models, port: 443";
constexpr std::string_view kParentToHttp = "namespace: infra, name: egress, sectionName: http";
constexpr std::string_view kRouteHead = "kind: HTTPRoute\nmetadata: {namespace: demo, name: web}";

TEST(Mistakes, ThereIsNoneInTheConfigurationThatTheTestsChange) {
  EXPECT_THAT(problemsIn(std::string(kRight)), IsEmpty());
}

TEST(Mistakes, InBackendRefsNameTheNearestBackend) {
  expectLines({
      {kToModels, "group: sluice.dev, kind: Backend, name: model, port: 443",
       "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend demo/model: it does not exist; "
       "did you mean models?"},
      {kToModels, "name: models, port: 443",
       "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Service demo/models: it does not exist; "
       "there is a Backend of that name: add group: sluice.dev, kind: Backend"},
      {kToModels, "kind: Backend, name: models, port: 443",
       "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend demo/models: backends of kind "
       "Backend are not supported; there is a Backend of that name: write group: sluice.dev"},
      {kToModels, "group: gateway.networking.k8s.io, kind: Backend, name: models, port: 443",
       "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend demo/models: it does not exist; "
       "there is a Backend of that name: write group: sluice.dev"},
      {kToModels, "group: sluice.dev, kind: Backend, name: svc, port: 443",
       "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend demo/svc: it does not exist; "
       "there is a Service of that name: write group: '', kind: Service"},
      {kToModels, "group: sluice.dev, kind: Backend, name: models, port: 8443",
       "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend demo/models: it has no port "
       "8443; it has 443"},
      {"{namespace: demo, name: models}", "{name: models}",
       "c.yaml:21:1: warning: Backend default/models: metadata.namespace: is not given, so the object is in namespace "
       "default\n"
       "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend demo/models: it does not exist; "
       "the Backend of that name has no metadata.namespace, and so is in namespace default"},
      {"name: svc, port: 80}", "name: svcc, port: 80}",
       "c.yaml:42:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[1]: Service demo/svcc: it does not exist; "
       "did you mean svc?"},
      {"name: svc, port: 80}", "name: svc, port: 8080}",
       "c.yaml:42:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[1]: Service demo/svc: it has no port 8080; "
       "it has 80"},
  });
  const auto portless = problemsIn(mistaken({"name: svc, port: 80}", "name: svc}", ""}));
  EXPECT_THAT(portless, ElementsAre("c.yaml:42:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[1]"
                                    ".port: is required for a Service"));
}

TEST(Mistakes, InOtherNamespacesSayWhatTheGrantLacks) {
  const std::string noGrant =
      "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend shared/models: no ReferenceGrant "
      "in "
      "namespace shared permits references from HTTPRoute of namespace demo; ";
  const Mistake reference{kToModels, "group: sluice.dev, kind: Backend, namespace: shared, name: models, port: 443",
                          ""};
  const auto grant = [&](std::string_view from, std::string_view to) {
    std::string text = mistaken(reference);
    const std::size_t at = text.find(from, text.find("kind: ReferenceGrant"));
    EXPECT_NE(at, std::string::npos);
    return problemsIn(text.replace(at, from.size(), to));
  };
  EXPECT_THAT(problemsIn(mistaken(reference)),
              Contains(noGrant + "a ReferenceGrant there permits other names: its `to` lacks name: models"));
  EXPECT_THAT(grant("kind: Backend, name: common", "kind: XBackend"),
              Contains(noGrant + "a ReferenceGrant there permits other kinds: its `to` lacks {group: sluice.dev, kind: "
                                 "Backend}"));
  EXPECT_THAT(grant("kind: HTTPRoute, namespace: demo}]\n  to: [{group: sluice.dev, kind: Backend, name: common",
                    "kind: GRPCRoute, namespace: demo}]\n  to: [{group: sluice.dev, kind: Backend"),
              Contains(noGrant + "a ReferenceGrant there permits other kinds: its `from` lacks {group: "
                                 "gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo}"));
  EXPECT_THAT(grant("namespace: demo}]\n  to: [{group: sluice.dev, kind: Backend, name: common",
                    "namespace: dmeo}]\n  to: [{group: sluice.dev, kind: Backend"),
              Contains(noGrant + "a ReferenceGrant there permits other namespaces: its `from` lacks {group: "
                                 "gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo}"));
  EXPECT_THAT(
      grant("{namespace: shared, name: some}", "{namespace: elsewhere, name: some}"),
      Contains(noGrant + "add one with from {group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo} and "
                         "to {group: sluice.dev, kind: Backend}"));
  EXPECT_THAT(
      grant("{namespace: shared, name: some}\nspec:\n  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, "
            "namespace: demo}]\n  to: [{group: sluice.dev, kind: Backend, name: common",
            "{namespace: demo, name: some}\nspec:\n  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, "
            "namespace: demo}]\n  to: [{group: sluice.dev, kind: Backend"),
      Contains(noGrant + "ReferenceGrant demo/some would, but it must be in namespace shared"));
}

/// Returns a Backend in that namespace.
std::string backendNamed(const std::string& nameSpace, const std::string& name,
                         const std::string& group = "sluice.dev") {
  return "---\napiVersion: " + group + "/v1alpha1\nkind: Backend\nmetadata: {namespace: " + nameSpace +
         ", name: " + name + "}\nspec: {destination: {type: Fqdn, fqdn: {hostname: a.test}, ports: [{number: 443, " +
         "protocol: HTTP}]}}\n";
}

TEST(Mistakes, InOtherNamespacesDiscloseNoNamesThere) {
  std::string text = mistaken({kToModels, "group: sluice.dev, kind: Backend, namespace: shared, name: common", ""});
  text += backendNamed("shared", "commons") + backendNamed("shared", "common", "gateway.networking.k8s.io");
  EXPECT_EQ(joinedLines(text),
            "c.yaml:41:11: error: HTTPRoute demo/web: spec.rules[0].backendRefs[0]: Backend shared/common: it does not "
            "exist");
}

TEST(Mistakes, HaveNoHintWhereThereIsTooMuchToLookAt) {
  const std::string text = mistaken({kToModels, "group: sluice.dev, kind: Backend, name: model, port: 443", ""});
  const auto hinted = [&](std::size_t objects) {
    std::string all = text;
    // One Backend is there already.
    for (std::size_t i = 1; i < objects; ++i) all += backendNamed("demo", "other-" + std::to_string(i));
    return joinedLines(all).ends_with("did you mean models?");
  };
  EXPECT_TRUE(hinted(compile::kMostSearched));
  EXPECT_FALSE(hinted(compile::kMostSearched + 1));
}

TEST(Mistakes, ListNoMoreThanAFewPorts) {
  const std::string ports =
      "ports: [{name: a, port: 81}, {name: b, port: 82}, {name: c, port: 83}, {name: d, port: 84}, {name: e, port: "
      "85}, "
      "{name: f, port: 86}, {name: g, port: 87}, {name: h, port: 88}";
  const auto messageWith = [&](const std::string& more) {
    const std::string text = mistaken({"ports: [{name: web, port: 80, targetPort: 8080}]", ports + more + "]", ""});
    for (const std::string& line : problemsIn(text)) {
      if (line.find("it has no port") != std::string::npos) return line.substr(line.find("; it has"));
    }
    return std::string();
  };
  EXPECT_EQ(messageWith(""), "; it has 81, 82, 83, 84, 85, 86, 87, 88");
  EXPECT_EQ(messageWith(", {name: i, port: 89}, {name: j, port: 90}"),
            "; it has 81, 82, 83, 84, 85, 86, 87, 88 and 2 more");
}

TEST(Mistakes, AreReportedOnceWhereverTheyMatter) {
  expectLines(
      {{"hostname: api.example.com", "hostname: localhost",
        "c.yaml:27:22: error: Backend demo/models: spec.destination.fqdn.hostname: must not name the gateway's own "
        "machine, but is \"localhost\""},
       {"      port: 10080", "      port: 0",
        "c.yaml:15:13: error: Gateway infra/egress: spec.listeners[0].port: must be between 1 and 65535, but is 0"}});
  const auto processor = [](std::string_view phase) {
    return "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: demo, name: p}\nspec:\n"
           "  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}\n  processors: [{name: a, "
           "type: "
           "example.com/A:v1, phase: " +
           std::string(phase) + "}]\n";
  };
  EXPECT_THAT(
      problemsIn(std::string(kRight) + processor("request-hedders")),
      ElementsAre(StartsWith("c.yaml:69:57: error: PayloadProcessor demo/p: spec.processors[0].phase: must be ")));
  EXPECT_THAT(
      problemsIn(std::string(kRight) + processor("request-headers")),
      ElementsAre(StartsWith("c.yaml:69:32: error: PayloadProcessor demo/p: spec.processors[0].type: no catalog ")));
  EXPECT_THAT(
      problemsIn(std::string(kRight) +
                 "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {namespace: "
                 "demo, name: p}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: "
                 "web}\n"),
      ElementsAre("c.yaml:65:7: error: SecurityPolicy demo/p: kind: policies of this kind are not supported: its "
                  "targets answer 500"));
}

TEST(Mistakes, OfObjectsWithOneNameAreToldApart) {
  std::string text(kRight);
  for (const char* group : {"sluice.dev", "gateway.networking.k8s.io"}) {
    text +=
        "---\napiVersion: " + std::string(group) +
        "/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: same}\nspec:\n  destination: {type: Fqdn, fqdn: "
        "{hostname: a.test, port: 443}}\n  tls: {mode: Simple, caBundleRef: [{kind: ConfigMap, name: lost}]}\n";
  }
  EXPECT_THAT(problemsIn(text), SizeIs(2));
}

TEST(Mistakes, InParentRefsNameTheListenersAndTheFieldThatRefuses) {
  const std::string at = "error: HTTPRoute demo/web: spec.parentRefs[0]";
  const std::string refused = "c.yaml:36:7: " + at +
                              ": Gateway infra/egress: listener http does not allow HTTPRoutes from "
                              "namespace demo: its allowedRoutes.";
  const std::string same = refused + "namespaces.from is Same, which means infra";
  const std::string selector = refused +
                               "namespaces.selector does not match the labels of that namespace, for which there is no "
                               "Namespace object";
  const std::string kinds = refused + "kinds does not name the kind";
  expectLines({
      {kParentToHttp, "namespace: infra, name: egress, sectionName: htpp",
       "c.yaml:36:53: error: HTTPRoute demo/web: spec.parentRefs[0].sectionName: Gateway infra/egress: it has no "
       "listener "
       "htpp; did you mean http?"},
      {kParentToHttp, "namespace: infra, name: egress, sectionName: web",
       "c.yaml:36:53: error: HTTPRoute demo/web: spec.parentRefs[0].sectionName: Gateway infra/egress: it has no "
       "listener "
       "web; there is http"},
      {kParentToHttp, "namespace: infra, name: egress, port: 9999",
       "c.yaml:36:46: error: HTTPRoute demo/web: spec.parentRefs[0].port: Gateway infra/egress: it has no listener "
       "with "
       "port 9999; it has 10080"},
      {kParentToHttp, "namespace: infra, name: egres",
       "c.yaml:36:7: error: HTTPRoute demo/web: spec.parentRefs[0]: Gateway infra/egres: it does not exist; a "
       "Gateway there with a similar name admits this route"},
      {kParentToHttp, "name: egress",
       "c.yaml:36:7: error: HTTPRoute demo/web: spec.parentRefs[0]: Gateway demo/egress: it does not exist; a "
       "Gateway of another namespace has that name and admits this route"},
      {"{namespaces: {from: All}}", "{namespaces: {from: Same}}", same},
      {"{namespaces: {from: All}}", "{namespaces: {from: Selector, selector: {matchLabels: {a: b}}}}", selector},
      {"{namespaces: {from: All}}", "{namespaces: {from: All}, kinds: [{kind: GRPCRoute}]}", kinds},
      {"port: 10080\n", "port: 10080\n      hostname: foo.test\n",
       "c.yaml:37:7: error: HTTPRoute demo/web: spec.parentRefs[0]: Gateway infra/egress: listener http is for "
       "foo.test, "
       "which no hostname of the route meets"},
      {"  gatewayClassName: egress", "  gatewayClassName: egres",
       "c.yaml:10:21: error: Gateway infra/egress: spec.gatewayClassName: GatewayClass egres: it does not exist; did "
       "you "
       "mean egress?"},
      {"      port: 10080", "      tls: {certificateRefs: [{name: cert}]}\n      port: 10080",
       "c.yaml:15:12: error: Gateway infra/egress: spec.listeners[0].tls: must not be given for protocol HTTP"},
      {"protocol: HTTP\n", "protocol: HTTPS\n      tls: {certificateRefs: [{name: cert}]}\n",
       "c.yaml:15:31: error: Gateway infra/egress: spec.listeners[0].tls.certificateRefs[0]: Secret infra/cert: it "
       "does not "
       "exist"},
  });
}

TEST(Mistakes, ThatWouldBeSilentAreWarnings) {
  expectLines({
      {"  parentRefs:\n    - {namespace: infra, name: egress, sectionName: http}\n", "",
       "c.yaml:31:1: warning: HTTPRoute demo/web: spec.parentRefs: names no Gateway, so nothing serves this route"},
      {"service-name: svc}", "service-name: svcc}",
       "c.yaml:44:1: warning: Service demo/svc: it has no EndpointSlice, and so no endpoints: requests to it answer "
       "503\n"
       "c.yaml:50:1: warning: EndpointSlice demo/svc-1: metadata.labels: there is no Service demo/svcc, so its "
       "endpoints "
       "are not used"},
      {"labels: {kubernetes.io/service-name: svc}", "labels: {}",
       "c.yaml:44:1: warning: Service demo/svc: it has no EndpointSlice, and so no endpoints: requests to it answer "
       "503\n"
       "c.yaml:50:1: warning: EndpointSlice demo/svc-1: metadata.labels: has no kubernetes.io/service-name, so its "
       "endpoints belong to no Service"},
      {"[{addresses: [10.0.0.1]}]", "[]",
       "c.yaml:44:1: warning: Service demo/svc: spec.ports[0]: no EndpointSlice has a ready endpoint with this port "
       "(web): "
       "requests to it answer 503"},
      {"ports: [{name: web, port: 8080}]", "ports: [{name: http, port: 8080}]",
       "c.yaml:44:1: warning: Service demo/svc: spec.ports[0]: no EndpointSlice has a ready endpoint with this port "
       "(web): "
       "requests to it answer 503"},
      {"kind: ReferenceGrant\n",
       "kind: BackendTLSPolicy\nmetadata: {namespace: demo, name: secure}\nspec: {targetRefs: [{group: sluice.dev, "
       "kind: "
       "Backend, name: modelz}, {group: '', kind: Service, name: svc}], validation: {hostname: a.test, "
       "wellKnownCACertificates: System}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\n",
       "c.yaml:57:1: warning: BackendTLSPolicy demo/secure: spec.targetRefs[0]: Backend demo/modelz: it does not "
       "exist; "
       "did you mean models?; nothing gets TLS by it"},
      {"{namespace: infra, name: egress, sectionName: http}",
       "{group: '', kind: Service, namespace: infra, name: egress}",
       "c.yaml:31:1: warning: HTTPRoute demo/web: spec.parentRefs: names no Gateway, so nothing serves this route"},
      {"sluice.dev/egress-gateway", "sluice.dev/egres-gateway",
       "c.yaml:1:1: error: GatewayClass egress: spec.controllerName: there is no GatewayClass with controllerName "
       "sluice.dev/egress-gateway: egress has sluice.dev/egres-gateway"},
      {"      backendRefs:\n        - {group: sluice.dev, kind: Backend, name: models, port: 443}\n        - {name: "
       "svc, port: "
       "80}\n",
       "", "c.yaml:39:7: warning: HTTPRoute demo/web: spec.rules[0]: it has no backendRefs: its requests answer 500"},
  });
}

TEST(Mistakes, InFieldsSayWhatToWriteInstead) {
  expectLines({
      {"port: 10080", "port: \"10080\"",
       "c.yaml:15:13: error: Gateway infra/egress: spec.listeners[0].port: must be a number, but is a string: leave "
       "the "
       "quotes out"},
      {"port: 10080", "port: web",
       "c.yaml:15:13: error: Gateway infra/egress: spec.listeners[0].port: must be a number, but is a string"},
      {"hostname: api.example.com", "hostname: https://api.example.com",
       "c.yaml:27:22: error: Backend demo/models: spec.destination.fqdn.hostname: must be a domain name, but is "
       "\"https://api.example.com\": leave out \"https://\""},
      {"hostname: api.example.com", "hostname: api.example.com/v1",
       "c.yaml:27:22: error: Backend demo/models: spec.destination.fqdn.hostname: must be a domain name, but is "
       "\"api.example.com/v1\": leave out the path"},
      {"hostname: api.example.com", "hostname: \"api.example.com:443\"",
       "c.yaml:27:22: error: Backend demo/models: spec.destination.fqdn.hostname: must be a domain name, but is "
       "\"api.example.com:443\": leave out the port"},
      {"hostnames: [web.test]", "hostnames: [Web.test]",
       "c.yaml:37:15: error: HTTPRoute demo/web: spec.hostnames[0]: must be a hostname in lower case that may begin "
       "with "
       "\"*.\", but is \"Web.test\": write it in lower case"},
      {"gateway.networking.k8s.io/v1\nkind: HTTPRoute", "gateway.network.k8s.io/v1\nkind: HTTPRoute",
       "c.yaml:32:7: error: HTTPRoute demo/web: unknown kind \"HTTPRoute\" of \"gateway.network.k8s.io/v1\": that is a "
       "kind "
       "of gateway.networking.k8s.io/v1 or gateway.networking.k8s.io/v1beta1"},
      {kRouteHead, "kind: TCPRoute\nmetadata: {namespace: demo, name: web}",
       "c.yaml:32:7: error: TCPRoute demo/web: kind TCPRoute of gateway.networking.k8s.io/v1 is known, but not "
       "supported "
       "yet; the object has no effect"},
  });
}

TEST(Mistakes, InTheKindOfAParentNameTheKindsOfGateways) {
  EXPECT_THAT(
      problemsIn(mistaken({kParentToHttp, "kind: EgressGateway, namespace: infra, name: egress", ""})),
      ElementsAre("c.yaml:36:7: error: HTTPRoute demo/web: spec.parentRefs[0]: EgressGateway infra/egress: only "
                  "Gateways and EgressGateways can be parents; did you mean kind: Gateway?"));
}

TEST(Mistakes, InTargetRefsNameTheNearestTarget) {
  const std::string processor = R"(---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {namespace: demo, name: headers}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: wbe}
  processors: [{name: a, type: example.com/A:v1, phase: request-headers}]
)";
  EXPECT_THAT(
      problemsIn(std::string(kRight) + processor),
      Contains("c.yaml:68:14: error: PayloadProcessor demo/headers: spec.targetRef: HTTPRoute demo/wbe: it does not "
               "exist; did you mean web?; nothing is attached"));
}

TEST(Mistakes, InYamlAreExplained) {
  expectLines({
      {"      backendRefs:", "\tbackendRefs:",
       "c.yaml:40:2: error: not YAML: this line does not continue the map that it stands in: its indentation differs, "
       "or a "
       "tab begins it"},
      {"hostnames: [web.test]", "hostnames: [web.test",
       "c.yaml:38:8: error: not YAML: a list that begins with [ has no ], or lacks a comma between its items"},
      {"hostnames: [web.test]", "hostnames: a: b",
       "c.yaml:37:15: error: not YAML: a field cannot begin here: put a value that contains \": \" in quotes, or look "
       "whether "
       "the line before lacks a \":\", or a space after it"},
      {"hostnames: [web.test]", "hostnames: [*.web.test]",
       "c.yaml:37:15: error: not YAML: a value that begins with * must be in quotes"},
      {"controllerName: sluice.dev/egress-gateway}", "controllerName: \"sluice.dev/egress-gateway}",
       "c.yaml:5:1: error: not YAML: a text in quotes has no closing quote before the next document"},
  });
}

}  // namespace
}  // namespace sluice::control

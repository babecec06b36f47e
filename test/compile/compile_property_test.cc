// Compiles random configurations and tests that the result does not depend on the order of their documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/described_result.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::World;

constexpr const char* kApi = "apiVersion: gateway.networking.k8s.io/v1\n";

class DocumentGenerator {
 public:
  explicit DocumentGenerator(std::uint64_t seed) : random_(seed) {}

  std::vector<std::string> documents() {
    std::vector<std::string> result = {std::string(kClass), std::string(kBackend)};
    for (const char* name : {"one", "two"}) result.push_back(gateway(name));
    for (const char* name : {"a", "b"}) {
      result.push_back("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + std::string(name) +
                       ", labels: {team: " + oneOf({"red", "blue"}) + "}}\n");
    }
    addService(result);
    for (std::uint64_t i = 2 + random_() % 10; i > 0; --i) result.push_back(route(i));
    if (random_() % 3 == 0) addPolicies(result);
    return result;
  }

  void shuffle(std::vector<std::string>& documents) { std::shuffle(documents.begin(), documents.end(), random_); }

 private:
  std::string oneOf(std::initializer_list<const char*> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random_() % choices.size()));
  }

  std::string age() {
    return oneOf({"", ", creationTimestamp: '2024-01-01T00:00:00Z'", ", creationTimestamp: '2025-01-01T00:00:00Z'"});
  }

  /// Adds a Service with overlapping slices, to which only some namespaces may refer.
  void addService(std::vector<std::string>& documents) {
    documents.push_back(
        "apiVersion: v1\nkind: Service\nmetadata: {name: inner, namespace: b}\nspec: {ports: [{port: 80" +
        oneOf({"", ", appProtocol: kubernetes.io/h2c"}) + "}]}\n");
    for (const char* name : {"s1", "s2", "s3"}) {
      documents.push_back(
          "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " + std::string(name) +
          ", namespace: b, labels: {kubernetes.io/service-name: inner}}\naddressType: " +
          oneOf({"IPv4\nendpoints: [{addresses: [10.0.0.1]}]\n",
                 "IPv4\nendpoints: [{addresses: [10.0.0.2]}, {addresses: [10.0.0.1]}]\n",
                 "IPv6\nendpoints: [{addresses: ['fd00::1']}]\n"}) +
          "ports: [{port: " + oneOf({"8080", "8081"}) + "}]\n");
    }
    for (const char* kind : {"HTTPRoute", "GRPCRoute"}) {
      if (random_() % 2 == 0) continue;
      documents.push_back("apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: " +
                          std::string(kind == std::string("HTTPRoute") ? "h" : "g") +
                          ", namespace: b}\nspec: {from: [{group: gateway.networking.k8s.io, kind: " + kind +
                          ", namespace: a}], to: [{group: '', kind: Service}]}\n");
    }
  }

  std::string gateway(const std::string& name) {
    std::string listeners;
    for (const char* listener : {"x", "y", "z"}) {
      listeners += "  - {name: " + std::string(listener) + ", protocol: HTTP, port: " + oneOf({"80", "81"}) +
                   oneOf({", hostname: '*.test'", ", hostname: a.test", ""}) + ", allowedRoutes: {namespaces: " +
                   oneOf({"{from: All}", "{from: All}", "{from: Selector, selector: {matchLabels: {team: red}}}"}) +
                   oneOf({"", "", ", kinds: [{kind: GRPCRoute}]", ", kinds: [{kind: TCPRoute}]"}) + "}}\n";
    }
    return kApi +
           ("kind: Gateway\nmetadata: {name: " + name + age() +
            "}\nspec:\n  gatewayClassName: sluice\n  addresses: [{value: 127.0.0.1}]\n  listeners:\n" + listeners);
  }

  std::string match(bool grpc) {
    if (grpc) return oneOf({"{}", "{method: {service: s}}", "{method: {service: s, method: m}}"});
    return oneOf({"{}", "{path: {value: /s}}", "{path: {type: Exact, value: /s/m}}", "{method: POST}",
                  "{path: {value: /s}, headers: [{type: RegularExpression, name: x, value: '('}]}",
                  "{path: {type: RegularExpression, value: '('}}"});
  }

  std::string route(std::uint64_t number) {
    const bool grpc = random_() % 3 == 0;
    std::string rules;
    for (std::uint64_t i = 1 + random_() % 3; i > 0; --i) {
      // The rules differ by their weight.
      rules += "  - matches: [" + match(grpc) + ", " + match(grpc) +
               "]\n    backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: " +
               oneOf({"origin", "origin", "absent"}) + ", weight: " + std::to_string(number * 10 + i) + "}" +
               oneOf({"", ", {name: inner, namespace: b, port: 80}", ", {name: inner, namespace: b, port: 81}"}) +
               "]\n" +
               oneOf({"", "",
                      "    filters: [{type: RequestMirror, requestMirror: {backendRef: {name: inner, namespace: b, "
                      "port: 80}}}]\n"});
    }
    return kApi +
           ("kind: " + std::string(grpc ? "GRPCRoute" : "HTTPRoute") + "\nmetadata: {name: r" + std::to_string(number) +
            ", namespace: " + oneOf({"default", "a", "b"}) + age() + oneOf({"", ", labels: {team: red}"}) +
            "}\nspec:\n  parentRefs: [{name: one, namespace: default}, {name: two, namespace: default" +
            oneOf({"", ", sectionName: y", ", port: 81"}) + "}]\n  hostnames: [" +
            oneOf({"a.test", "'*.test'", "b.test", "a.test, '*.a.test'", ""}) + "]\n" +
            oneOf({"", "", "", "", "  surprise: 1\n"}) + "  rules:\n" + rules +
            oneOf({"", "", "", "", "  - matches: [{path: {value: s}}]\n"}));
  }

  /// Adds policies of unsupported kinds. Some of them are refused by their schema.
  void addPolicies(std::vector<std::string>& documents) {
    for (const char* name : {"p", "q", "r"}) {
      documents.push_back("apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: " +
                          std::string(name) + ", namespace: " + oneOf({"default", "a"}) + "}\nspec:\n" +
                          oneOf({"  targetSelectors: [{kind: HTTPRoute, matchLabels: {team: red}}]\n",
                                 "  targetRefs: [{group: gateway.networking.k8s.io, kind: GRPCRoute, name: r1}]\n",
                                 "  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: two, "
                                 "sectionName: x}]\n",
                                 "  targetRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n",
                                 "  targetRefs: [{group: gateway.networking.k8s.io, name: r2}]\n"}));
    }
  }

  std::mt19937_64 random_;
};

TEST(CompileProperty, TheOrderOfDocumentsNeverChangesTheResult) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    DocumentGenerator generate(seed);
    std::vector<std::string> documents = generate.documents();
    const auto compiled = [&] {
      return test::describedResult(World(std::vector<std::string_view>(documents.begin(), documents.end())).result());
    };
    const std::string expected = compiled();
    for (int i = 0; i < 4; ++i) {
      generate.shuffle(documents);
      ASSERT_EQ(compiled(), expected) << "seed " << seed;
    }
    all += expected;
  }
  for (const char* met :
       {"HostnameConflict", "comes first on listener", "PortUnavailable", "NotAllowedByListeners", "RefNotPermitted",
        "it has no port 81", "of this kind are not supported", "of these kinds are not supported",
        "that it could target answer 500", "10.0.0.2-8081", "fd00::1-8080"}) {
    EXPECT_NE(all.find(met), std::string::npos) << met << " was never met";
  }
}

}  // namespace
}  // namespace sluice::compile

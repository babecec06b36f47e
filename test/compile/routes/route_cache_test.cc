// Changes the objects of a configuration at random, one at a time. A compilation with the caches of the last one must
// have the same result as a compilation without caches: the same snapshot, statuses and everything else.
//
// The configuration has every kind of object on which a route's rules depend, because a route is compiled again only if
// something that it depends on has changed.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/load/text_cache.h"
#include "test/compile/compile_world.h"
#include "test/compile/processors/server_type.h"
#include "test/compile/routes/described_rule.h"
#include "test/support/seeds.h"

namespace sluice::compile {
namespace {

constexpr const char* kGatewayApi = "apiVersion: gateway.networking.k8s.io/v1\n";
constexpr const char* kOriginName = "{group: sluice.dev, kind: Backend, name: origin}";
constexpr const char* kOtherName = "{group: sluice.dev, kind: Backend, name: other}";
constexpr const char* kShopName = "{name: shop, port: 80}";
constexpr const char* kForeignName = "{name: inner, namespace: b, port: 80}";

using Versions = std::vector<std::string>;

/// Writes the objects of a configuration. Each is determined by a number of choices, and a change alters one of them.
class ObjectVersions {
 public:
  explicit ObjectVersions(std::uint64_t seed) : random_(seed), objects_(objects()) {}

  /// Returns the current objects by their files. The text of an object that does not exist is empty.
  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> texts;
    for (const auto& [file, object] : objects_) texts[file] = text(file);
    return texts;
  }
  /// Changes one of the objects, and returns its file and its text.
  std::pair<std::string, std::string> change() {
    auto object = objects_.begin();
    std::advance(object, random_() % objects_.size());
    std::vector<std::uint64_t>& choices = choices_[object->first];
    choices[random_() % choices.size()] = random_();
    return {object->first, text(object->first)};
  }

 private:
  std::string text(const std::string& file) {
    now_ = &choices_[file];
    next_ = 0;
    return objects_.at(file)();
  }
  /// Returns the next choice, a number below `count`, as it was made before.
  std::size_t upTo(std::size_t count) {
    if (next_ == now_->size()) now_->push_back(random_());
    return (*now_)[next_++] % count;
  }

  /// Returns the functions that write the objects, by the file of each.
  std::map<std::string, std::function<std::string()>> objects() {
    std::map<std::string, std::function<std::string()>> all;
    all["settings"] = [this] { return settings(); };
    all["catalog"] = [this] { return catalog(); };
    all["gateway"] = [this] { return gateway(); };
    all["origin"] = [this] { return backend("origin"); };
    all["other"] = [this] { return backend("other"); };
    all["shop"] = [this] { return service("shop", "default"); };
    all["inner"] = [this] { return service("inner", "b"); };
    all["token"] = [this] { return token("default"); };
    all["keys"] = [this] { return token("keys"); };
    all["pipeline"] = [this] { return pipeline(); };
    for (const char* to : {"Secret", "Service"}) {
      all[std::string("grant-") + to] = [this, to] { return grant(to); };
    }
    for (const char* name : {"p", "q"}) {
      all[std::string("traffic-") + name] = [this, name] { return trafficPolicy(name); };
      all[std::string("envoy-") + name] = [this, name] { return envoyPolicy(name); };
      all[std::string("processor-") + name] = [this, name] { return payloadProcessor(name); };
      all[std::string("extension-") + name] = [this, name] { return extensionPolicy(name); };
    }
    for (const char* name : {"a", "b", "c"}) all[std::string("route-") + name] = [this, name] { return route(name); };
    return all;
  }

  std::string oneOf(const Versions& choices) { return choices[upTo(choices.size())]; }
  /// Returns the text with a probability of one in `often`, or else an empty text.
  std::string maybe(std::size_t often, const std::string& text) { return upTo(often) == 0 ? "" : text; }
  std::string rarely(const std::string& text) { return upTo(8) == 0 ? text : ""; }

  std::string settings() {
    return test::configMap("settings", "settings.yaml",
                           oneOf({"processorCatalogs: [{namespace: default, name: types}]\n",
                                  "processorCatalogs: [{namespace: default, name: types}]\n", "{}\n"}) +
                               oneOf({"", "", "limits: {processorContext: 8Ki}\n"}) +
                               oneOf({"", "",
                                      "extensionManager: {hooks: {xdsTranslator: {post: [Route]}}, service: {fqdn: "
                                      "{hostname: ext.test, port: 5005}}}\n"}));
  }
  std::string catalog() {
    return maybe(
        5, test::configMap("types", "a.yaml",
                           "{type: 'sluice.dev/Recalls:v1', engine: builtin, phases: [" +
                               oneOf({"request-headers, backend-request", "request-headers", "backend-request"}) + "]" +
                               oneOf({"", ", defaults: {failOpen: true}", ", defaults: {priority: 7}",
                                      ", defaults: {timeout: 3s}"}) +
                               "}\n"));
  }
  std::string gateway() {
    return kGatewayApi +
           ("kind: Gateway\nmetadata: {name: egress}\nspec:\n  gatewayClassName: sluice\n  addresses: [{value: "
            "127.0.0.1}]\n  listeners: [{name: web, protocol: HTTP, port: 80}" +
            oneOf({"", ", {name: more, protocol: HTTP, port: 81}"}) + "]\n");
  }
  std::string use(const std::string& name) {
    return "{name: " + name + ", type: 'sluice.dev/" +
           oneOf({"Recalls", "Recalls", "Recalls", "Recalls", "Recalls", "Recalls", "Absent"}) +
           ":v1', phase: request-headers" + oneOf({"", ", failOpen: true", ", priority: 2", ", timeout: 2s"}) +
           ", config: {" +
           oneOf({"a: b", "a: b", "a: b", "secret: token", "secret: token, namespace: keys",
                  std::string("backendRef: ") + kOriginName, std::string("backendRef: ") + kShopName,
                  std::string("backendRef: ") + kForeignName, "awaits: missing", "awaits: pending"}) +
           "}}";
  }
  std::string backend(const std::string& name) {
    return maybe(12, "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: " + name +
                         oneOf({"", ", labels: {team: red}"}) + "}\nspec: {destination: " +
                         oneOf({"{type: Fqdn, fqdn: {hostname: a.test}, ports: [{number: 8080}]}",
                                "{type: Fqdn, fqdn: {hostname: b.test}, ports: [{number: 8080, tls: {mode: Simple}}]}",
                                "{type: KubernetesService, service: {name: shop}, ports: [{number: 80}]}"}) +
                         oneOf({"", ", timeout: {tcp: {connectTimeout: 4s}}",
                                ", healthCheck: {passive: {consecutive5XxErrors: 2}}"}) +
                         oneOf({"", ", extensions: [" + use("e") + "]"}) + rarely(", surprise: 1") + "}\n");
  }
  std::string service(const std::string& name, const std::string& nameSpace) {
    return maybe(12, "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: " + nameSpace +
                         oneOf({"", ", labels: {team: red}"}) +
                         "}\nspec: {ports: [{port: " + oneOf({"80", "80", "80", "81"}) +
                         "}]}\n---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " + name +
                         "-1, namespace: " + nameSpace + ", labels: {kubernetes.io/service-name: " + name +
                         "}}\naddressType: IPv4\nendpoints: [" +
                         oneOf({"{addresses: [10.0.0.1]}", "{addresses: [10.0.0.2]}",
                                "{addresses: [10.0.0.1]}, {addresses: [127.0.0.1]}", ""}) +
                         "]\nports: [{port: 8080}]\n");
  }
  std::string token(const std::string& nameSpace) {
    return maybe(6, "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: " + nameSpace +
                        "}\nstringData: {key: " + oneOf({"one", "two"}) + rarely(", more: x") + "}\n");
  }
  std::string pipeline() {
    return maybe(6,
                 "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {name: pipeline}\n"
                 "spec: {processors: [" +
                     use("x") + oneOf({"", ", " + use("y")}) + "]}\n");
  }
  std::string grant(const std::string& to) {
    return maybe(
        3, "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: to-" +
               std::string(to == "Secret" ? "secret, namespace: keys" : "service, namespace: b") +
               "}\nspec: {from: [{group: " +
               oneOf({"gateway.networking.k8s.io, kind: HTTPRoute", "sluice.dev, kind: PayloadProcessor",
                      "sluice.dev, kind: PayloadProcessingPipeline", "sluice.dev, kind: Backend",
                      "gateway.envoyproxy.io, kind: EnvoyExtensionPolicy"}) +
               ", namespace: default}, {group: gateway.networking.k8s.io, kind: " + oneOf({"HTTPRoute", "GRPCRoute"}) +
               ", namespace: default}], to: [{group: '', kind: " + to + "}]}\n");
  }
  std::string age() { return oneOf({"", ", creationTimestamp: '2024-01-01T00:00:00Z'"}); }
  std::string target() {
    return "targetRefs: [{group: gateway.networking.k8s.io, kind: " +
           oneOf({"HTTPRoute, name: a", "HTTPRoute, name: b", "HTTPRoute, name: a, sectionName: main",
                  "HTTPRoute, name: b, sectionName: main", "GRPCRoute, name: c", "Gateway, name: egress",
                  "Gateway, name: egress", "Gateway, name: egress, sectionName: web"}) +
           "}]";
  }
  std::string destination() {
    return "targetRefs: [" +
           oneOf({"{group: sluice.dev, kind: Backend, name: origin}", "{group: sluice.dev, kind: Backend, name: other}",
                  "{group: '', kind: Service, name: shop}"}) +
           "]";
  }
  std::string trafficPolicy(const std::string& name) {
    return maybe(
        2, "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name + age() + "}\nspec: {" +
               oneOf({target(), target(), destination()}) +
               oneOf({", retry: {attempts: 2}", ", retry: {attempts: 3}, timeout: {http: {requestTimeout: 9s}}",
                      ", timeout: {tcp: {connectTimeout: 5s}}", ", timeout: {tcp: {connectTimeout: 6s}}",
                      ", healthCheck: {passive: {}}", ", healthCheck: {active: {type: TCP, interval: 9s}}",
                      ", circuitBreaker: {maxConnections: 3}"}) +
               rarely(", surprise: 1") + "}\n");
  }
  std::string envoyPolicy(const std::string& name) {
    if (upTo(2) == 0) return "";
    const bool experimental = upTo(3) == 0;
    if (experimental) {
      return "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackendTrafficPolicy\nmetadata: {name: " + name +
             age() + "}\nspec: {" + destination() +
             oneOf({", retryConstraint: {budget: {percent: 5, interval: 1m}, minRetryRate: {count: 7}}",
                    ", sessionPersistence: {sessionName: s}",
                    ", sessionPersistence: {type: Header, sessionName: x-s}"}) +
             "}\n";
    }
    return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: " + name + age() +
           "}\nspec: {" + target() + oneOf({"", ", mergeType: StrategicMerge", ", mergeType: JSONMerge"}) +
           oneOf({", retry: {numRetries: 4}", ", timeout: {http: {requestTimeout: 8s}}",
                  ", timeout: {tcp: {connectTimeout: 7s}}"}) +
           rarely(", faultInjection: {abort: {httpStatus: 500}}") + "}\n";
  }
  std::string payloadProcessor(const std::string& name) {
    return maybe(2, "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: " + name + age() +
                        "}\nspec: {" + oneOf({target(), target(), destination()}) + ", processors: [" + use("pp") +
                        "]" + rarely(", surprise: 1") + "}\n");
  }
  std::string extensionPolicy(const std::string& name) {
    return maybe(2, "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyExtensionPolicy\nmetadata: {name: " + name +
                        age() + "}\nspec: {" + target() + ", extProc: [{backendRefs: [" +
                        oneOf({kShopName, kForeignName, kShopName}) + "]" + oneOf({"", ", failOpen: true"}) + "}]" +
                        rarely(", wasm: [{name: w}]") + "}\n");
  }
  std::string filters() {
    return oneOf({"", "", "filters: [{type: PayloadProcessing, payloadProcessing: [" + use("own") + "]}], ",
                  "filters: [{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, "
                  "name: pipeline}}], "});
  }
  std::string weighted(const char* ref) {
    std::string text(ref);
    text.pop_back();
    const std::string own = filters();
    return text + (own.empty() ? "" : ", " + own.substr(0, own.size() - 2)) + "}";
  }
  std::string route(const std::string& name) {
    const bool grpc = name == "c";
    std::string rules;
    for (const char* rule : {"main", "rest"}) {
      const std::string path = "/" + name + "/" + rule;
      rules += "  - name: " + std::string(rule) + "\n    " +
               (grpc ? "matches: [{method: {service: " + name + ", method: " + rule + "}}]"
                     : "matches: [{path: {value: " + path + "}}]") +
               "\n    backendRefs: [" + weighted(oneOf({kOriginName, kShopName, kForeignName}).c_str()) +
               oneOf({"", ", " + weighted(kOtherName)}) + "]\n";
      std::string own = filters();
      if (!own.empty()) rules += "    " + own.substr(0, own.size() - 2) + "\n";
    }
    return maybe(
        10, kGatewayApi + ("kind: " + std::string(grpc ? "GRPCRoute" : "HTTPRoute") + "\nmetadata: {name: " + name +
                           age() + "}\nspec:\n  parentRefs: [{name: egress}]\n  hostnames: [" +
                           (grpc ? "c.test" : "a.test") + "]\n  rules:\n" + rules + rarely("  surprise: 1\n")));
  }

  std::mt19937_64 random_;
  const std::map<std::string, std::function<std::string()>> objects_;
  std::map<std::string, std::vector<std::uint64_t>> choices_;  // by file, in the order in which they were made
  std::vector<std::uint64_t>* now_ = nullptr;                  // the choices of the object that is being written
  std::size_t next_ = 0;                                       // index of the next choice
};

std::string describedRequests(const routing::Snapshot& snapshot) {
  std::string text;
  for (const routing::Bind& bind : snapshot.binds) {
    text += bind.address + " " + std::to_string(bind.port) + "\n";
    for (const char* path : {"/a/main", "/a/rest", "/b/main", "/b/rest", "/c/main", "/c/rest", "/d"}) {
      const std::string host = std::string(path).starts_with("/c/") ? "c.test" : "a.test";
      const routing::test::RequestMaker request("POST", host, path);
      const routing::RouteMatch match = routing::routesOf(bind.service).match(request.head());
      text +=
          std::string(path) + ": " + (match.rule == nullptr ? match.reason : test::describedRule(*match.rule)) + "\n";
    }
  }
  return text;
}

/// Describes the whole result of a compilation.
std::string described(const CompileResult& result) {
  std::string text = result.usable ? "usable\n" : "";
  for (const config::ObjectStatus& each : result.statuses) text += config::objectStatusJson(each) + "\n";
  text += describedRequests(*result.snapshot);
  for (const auto& backend : result.snapshot->backends) {
    text += "destination " + backend->identity.text();
    for (const routing::Endpoint& each : backend->endpoints.value_or(std::vector<routing::Endpoint>())) {
      text += " " + each.ip;
    }
    text += "\n";
  }
  for (const routing::CheckedBackend& each : result.snapshot->checked) {
    text += "checked " + each.backend->identity.text() + " " + std::to_string(each.answers.size()) + "\n";
  }
  for (const std::string& name : result.namedBackends) text += "named " + name + "\n";
  for (const AwaitingUse& each : result.awaiting) text += "awaiting " + each.name + " " + each.why + "\n";
  for (const AskedServer& each : result.servers) {
    text += "asked " + each.writtenIn + " " + each.use + " " + each.path +
            (each.loss == ServerLoss::kSkipped ? " open\n" : "\n");
  }
  for (const auto& [gateway, secrets] : result.secrets) {
    for (const auto& [nameSpace, name] : secrets) text += "secret " + nameSpace + "/" + name + "\n";
  }
  return text;
}

/// A configuration with one text for each object. Unchanged texts are not read again.
class ChangingConfiguration {
 public:
  explicit ChangingConfiguration(std::string controller) : controller_(std::move(controller)) {
    texts_["class"] =
        test::with(test::kClass, "spec: {",
                   "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ");
  }

  void write(const std::string& file, std::string text) { texts_[file] = std::move(text); }

  /// Compiles with caches and without, and returns both descriptions.
  std::pair<std::string, std::string> compile() {
    std::vector<config::SourceText> files;
    for (const auto& [name, text] : texts_) files.push_back({name + ".yaml", text});
    config::Configuration loaded = config::load(config::readTexts(files, {}, base::Secret(), read_), nullptr);
    loaded.model.controllerNamespace = controller_;
    static const auto kTrust =
        std::make_shared<const pki::TrustStore>(pki::TrustStore::parse(test::authority().certificate).value());
    const SystemTrust trust = [] { return kTrust; };
    config::Problems problems;
    const auto catalog = config::CatalogCache().read(loaded.model, supportOf(types_), problems);
    CompileResult next = compile::compile(loaded.model, {*catalog, types_, trust}, cache_);
    CompileCache none;
    none.states = cache_.states;  // both have the same states of servers
    const CompileResult anew = compile::compile(loaded.model, {*catalog, types_, trust}, none);
    result_ = std::move(next);
    model_ = std::move(loaded.model);
    return {described(result_), described(anew)};
  }

 private:
  static processing::BuiltinTypes types() {
    processing::BuiltinTypes all = test::typesWithServers();
    all.push_back({"sluice.dev/Recalls:v1",
                   {processing::Phase::kRequestHeaders, processing::Phase::kBackendRequest},
                   true,
                   "{}",
                   test::makeRecallingProcessor});
    return all;
  }

  const processing::BuiltinTypes types_ = types();
  const std::string controller_;
  std::map<std::string, std::string> texts_;
  config::TextCache read_;
  config::Model model_;
  CompileCache cache_;
  CompileResult result_;
};

TEST(RouteCache, MakesWhatACompilationFromNothingMakes) {
  std::string met;
  for (const std::uint64_t seed : sluice::test::seeds(30, 5)) {
    ObjectVersions versions(seed);
    ChangingConfiguration configuration(seed % 3 == 0 ? "sluice-system" : "");
    for (const auto& [file, text] : versions.all()) configuration.write(file, text);
    std::string last = "the first compilation";
    test::AwaitedByTest::come() = false;
    for (int change = 0; change < 50; ++change) {
      const auto [kept, anew] = configuration.compile();
      ASSERT_EQ(kept, anew) << "seed " << seed << ", change " << change << ": " << last;
      met += kept;
      if (change == 30) {
        test::AwaitedByTest::come() = true;
        last = "what is awaited has come";
        continue;
      }
      const auto [file, text] = versions.change();
      configuration.write(file, text);
      last = file + "\n" + text;
    }
  }
  test::AwaitedByTest::come() = false;
  for (const char* each : {"step", "failover", "member", "check", "session", "retry", "retries", "failure", "awaiting",
                           "asked", "secret", "of one", "of two", "asking", "RefNotPermitted", "8192"}) {
    EXPECT_NE(met.find(each), std::string::npos) << each << " was never met";
  }
}

}  // namespace
}  // namespace sluice::compile

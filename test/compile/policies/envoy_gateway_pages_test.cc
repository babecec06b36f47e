// Tests the objects that Envoy Gateway's documentation shows, page by page: they are served, or a condition names the
// field that is not supported. The samples in the folder envoy_gateway follow these pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kClass;
using test::kGateway;
using test::World;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;

/// A page, with the conditions of its objects and the outcomes of its requests.
struct EnvoyGatewayPage {
  const char* file;
  std::vector<std::string> said;
};

const EnvoyGatewayPage kEnvoyGatewayPages[] = {
    {"backend-routing",
     {"Backend archive: True/Accepted", "Backend calls: True/Accepted",
      "Backend local: False/UnsupportedValue spec.endpoints[0].unix", "Backend weather: True/Accepted",
      "/weather goes to default/weather", "/archive goes to default/archive", "/local goes to 500",
      "/calls goes to default/calls"}},
    {"backend-hostnames", {"Backend named: False/UnsupportedValue spec.endpoints[0].hostname", "/named goes to 500"}},
    {"routing-outside-kubernetes", {"/outside goes to default/outside"}},
    {"dynamic-forward-proxy", {"Backend anywhere: True/Accepted", "/ goes to default/anywhere over TLS"}},
    {"http-connect-tunnels",
     {"BackendTrafficPolicy tunnels: False/UnsupportedValue spec.httpUpgrade", "Backend far: True/Accepted",
      "/ goes to 500"}},
    {"failover",
     {"BackendTrafficPolicy sites-that-fail: True/Accepted", "Backend main-site: True/Accepted",
      "Backend spare-site: True/Accepted", "/catalog goes to default/main-site"}},
    {"failover-in-the-cluster", {"Backend inner: False/Invalid spec.endpoints[0].fqdn.hostname", "/inner goes to 500"}},
    {"retry",
     {"BackendTrafficPolicy quotes-again: True/Accepted", "Backend quotes: True/Accepted",
      "/quotes goes to default/quotes"}},
    {"http-timeouts", {"Backend slow: True/Accepted", "/slow goes to default/slow"}},
    {"grpc-timeouts",
     {"BackendTrafficPolicy long-streams: True/Accepted", "BackendTrafficPolicy short-calls: True/Accepted",
      "Backend ledger: True/Accepted", "Backend ticker: True/Accepted", "calls of ledger go to default/ledger",
      "calls of ticker go to default/ticker"}},
    {"session-persistence",
     {"Backend carts: True/Accepted", "Backend more-carts: True/Accepted", "/cookie goes to default/carts",
      "/header goes to default/carts"}},
    {"http-request-mirroring",
     {"Backend beta: True/Accepted", "Backend orders: True/Accepted", "Backend shadow: True/Accepted",
      "/orders goes to default/orders"}},
    {"connections",
     {"BackendTrafficPolicy alike: False/UnsupportedValue spec.useClientProtocol",
      "BackendTrafficPolicy buffered: False/UnsupportedValue spec.connection",
      "BackendTrafficPolicy clustered: False/UnsupportedValue spec.routingType",
      "BackendTrafficPolicy looked-up: True/Accepted",
      "BackendTrafficPolicy marked: False/UnsupportedValue spec.proxyProtocol",
      "BackendTrafficPolicy measured: True/Accepted spec.telemetry", "BackendTrafficPolicy probed: True/Accepted",
      "BackendTrafficPolicy streams: False/UnsupportedValue spec.http2", "Backend bank: True/Accepted",
      "/probed goes to default/bank", "/buffered goes to 500", "/marked goes to 500", "/streams goes to 500",
      "/looked-up goes to default/bank", "/measured goes to default/bank", "/alike goes to 500",
      "/clustered goes to 500"}},
    {"health-checks",
     {"BackendTrafficPolicy ask-calls: True/Accepted", "BackendTrafficPolicy ask-lines: True/Accepted",
      "BackendTrafficPolicy ask-otherwise: False/UnsupportedValue spec.healthCheck.active.http.method",
      "BackendTrafficPolicy ask-pages: True/Accepted spec.healthCheck.active.http.retriableStatuses",
      "Backend calls: True/Accepted", "Backend lines: True/Accepted", "Backend pages: True/Accepted",
      "/pages goes to default/pages", "/lines goes to default/lines", "/calls goes to default/calls",
      "/odd goes to 500"}},
    {"failure-percentage",
     {"BackendTrafficPolicy split-errors: False/UnsupportedValue "
      "spec.healthCheck.passive.splitExternalLocalOriginErrors",
      "BackendTrafficPolicy too-many: True/Accepted", "Backend prices: True/Accepted", "/prices goes to default/prices",
      "/split goes to 500"}},
    {"circuit-breaker",
     {"BackendTrafficPolicy stock-at-once: True/Accepted", "Backend stock: True/Accepted",
      "/stock goes to default/stock"}},
    {"admission-control",
     {"BackendTrafficPolicy calm-search: False/UnsupportedValue spec.admissionControl", "Backend search: True/Accepted",
      "/search goes to 500"}},
    {"bandwidth-limit",
     {"BackendTrafficPolicy slow-films: False/UnsupportedValue spec.bandwidthLimit", "Backend films: True/Accepted",
      "/films goes to 500"}},
    {"local-rate-limit",
     {"BackendTrafficPolicy few-tickets: False/UnsupportedValue spec.rateLimit", "Backend tickets: True/Accepted",
      "/tickets goes to 500"}},
    {"global-rate-limit",
     {"BackendTrafficPolicy few-seats: False/UnsupportedValue spec.rateLimit", "Backend seats: True/Accepted",
      "/seats goes to 500"}},
    {"request-buffering",
     {"BackendTrafficPolicy whole-forms: False/UnsupportedValue spec.requestBuffer", "Backend forms: True/Accepted",
      "/forms goes to 500"}},
    {"fault-injection",
     {"BackendTrafficPolicy all-late: False/UnsupportedValue spec.faultInjection",
      "BackendTrafficPolicy calls-abort: False/UnsupportedValue spec.faultInjection",
      "BackendTrafficPolicy some-abort: False/UnsupportedValue spec.faultInjection", "Backend menu: True/Accepted",
      "/aborted goes to 500", "/delayed goes to 500", "calls of calls go to 503"}},
    {"load-balancing",
     {"BackendTrafficPolicy by-address: True/Accepted", "BackendTrafficPolicy by-chance: True/Accepted",
      "BackendTrafficPolicy by-cookie: True/Accepted spec.loadBalancer.consistentHash.cookie.attributes",
      "BackendTrafficPolicy by-header: True/Accepted", "BackendTrafficPolicy by-headers: True/Accepted",
      "BackendTrafficPolicy by-override: False/UnsupportedValue spec.loadBalancer.endpointOverride",
      "BackendTrafficPolicy by-query: True/Accepted", "BackendTrafficPolicy in-turn: True/Accepted",
      "BackendTrafficPolicy least-busy: True/Accepted", "Backend depot: True/Accepted",
      "/in-turn goes to default/depot", "/by-chance goes to default/depot", "/least-busy goes to default/depot",
      "/by-address goes to default/depot", "/by-header goes to default/depot", "/by-headers goes to default/depot",
      "/by-cookie goes to default/depot", "/by-query goes to default/depot", "/by-override goes to 500"}},
    {"backend-utilization",
     {"BackendTrafficPolicy render-by-load: False/UnsupportedValue spec.loadBalancer.type "
      "spec.loadBalancer.backendUtilization",
      "Backend render: True/Accepted", "/render goes to 500"}},
    {"zone-aware-routing",
     {"BackendTrafficPolicy near: True/Accepted", "Backend lockers: True/Accepted", "/near goes to default/lockers",
      "/spread goes to default/lockers"}},
    {"response-compression",
     {"BackendTrafficPolicy small-maps: False/UnsupportedValue spec.compressor",
      "BackendTrafficPolicy small-old-maps: False/UnsupportedValue spec.compression", "Backend maps: True/Accepted",
      "/maps goes to 500", "/old-maps goes to 500"}},
    {"response-override",
     {"BackendTrafficPolicy kind-words: False/UnsupportedValue spec.responseOverride", "Backend reviews: True/Accepted",
      "/reviews goes to 500"}},
    {"backend-traffic-policy",
     {"BackendTrafficPolicy by-label: True/Accepted", "BackendTrafficPolicy for-all: True/Accepted",
      "BackendTrafficPolicy merged: True/Accepted", "Backend accounts: True/Accepted",
      "/accounts goes to default/accounts", "/signup goes to default/accounts", "/plain goes to default/accounts"}},
    {"backend-tls", {"BackendTLSPolicy vault-over-tls: True/Accepted", "/vault goes to default/vault over TLS"}},
    {"backend-tls-by-number", {"BackendTLSPolicy safe-over-tls: True/Accepted", "/safe goes to default/safe over TLS"}},
    {"backend-tls-of-a-backend",
     {"BackendTLSPolicy keys-over-tls: True/Accepted", "Backend keys: True/Accepted",
      "/keys goes to default/keys over TLS"}},
    {"backend-mtls",
     {"kind EnvoyProxy is not supported", "Backend bureau: True/Accepted", "/bureau goes to default/bureau over TLS"}},
    {"backend-tls-settings",
     {"Backend strict: False/UnsupportedValue spec.tls.minVersion spec.tls.maxVersion spec.tls.ciphers "
      "spec.tls.ecdhCurves spec.tls.signatureAlgorithms spec.tls.alpnProtocols",
      "/strict goes to 500"}},
    {"backend-skip-tls-verification", {"Backend lab: True/Accepted spec.tls", "/lab goes to default/lab over TLS"}},
};

constexpr const char* kSampleFolder = SLUICE_SOURCE_DIR "/test/compile/policies/envoy_gateway/";

std::string sampleOf(const std::string& page) {
  std::ifstream in(kSampleFolder + page + ".yaml");
  EXPECT_TRUE(in.good()) << page << ".yaml is missing";
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the names of the fields in a condition's message.
std::string fieldsNamedIn(const std::string& message) {
  static const std::regex kField(R"re(spec\.[A-Za-z0-9.\[\]]+(?=: ))re");
  std::string fields;
  for (std::sregex_iterator each(message.begin(), message.end(), kField), end; each != end; ++each) {
    fields += " " + each->str();
  }
  return fields;
}

/// Adds a line for each known kind, and for no other kind.
void describeKinds(const config::Problems& problems, std::vector<std::string>& said) {
  static const std::regex kUnsupportedKind(R"re(kind (\w+) of \S+ is known, but not supported yet)re");
  for (const config::Problem& each : problems) {
    const std::string problem = config::render(each);
    EXPECT_THAT(problem, Not(HasSubstr("unknown field")));
    std::smatch kind;
    if (std::regex_search(problem, kind, kUnsupportedKind)) said.push_back("kind " + kind.str(1) + " is not supported");
  }
}

/// Adds a line for each Backend and each policy, with the condition and the fields in its message.
void describeObjects(const World& world, std::vector<std::string>& said) {
  for (const config::ObjectStatus& each : world.result().statuses) {
    if (each.kind != "Backend" && !each.kind.ends_with("Policy")) continue;
    said.push_back(std::string(each.kind) + " " + each.name + ": " + world.condition(each.kind, each.name, "Accepted") +
                   fieldsNamedIn(world.message(each.kind, each.name, "Accepted")));
  }
}

/// Returns the destination of a request, such as "default/stock", with "over TLS" if it uses TLS, or the status of the
/// local reply.
std::string placeOf(const World& world, const test::RequestMaker& request) {
  const routing::Rule* rule = world.rule(request);
  if (rule == nullptr) return "404";
  if (rule->failure) return std::to_string(rule->failure->status);
  const routing::WeightedBackend* weighted = rule->choose(0);
  if (weighted == nullptr || weighted->failure) return "500";
  return weighted->backend->name + (weighted->backend->tls ? " over TLS" : "");
}

/// Adds a line for each route with the destinations of its requests.
void describeRoutes(const World& world, std::vector<std::string>& said) {
  for (const config::HttpRoute& route : world.model().all<config::HttpRoute>()) {
    const std::string path = route.rules.front().matches.empty() ? "/" : route.rules.front().matches.front().path.value;
    said.push_back(path + " goes to " + placeOf(world, test::RequestMaker("GET", "shop.test", path)));
  }
  for (const config::GrpcRoute& route : world.model().all<config::GrpcRoute>()) {
    const test::RequestMaker call("POST", route.hostnames.front(), "/shop.Calls/Get");
    said.push_back("calls of " + route.meta.name + " go to " + placeOf(world, call));
  }
}

TEST(EnvoyGatewayPages, AreServedOrNameWhatIsNotSupported) {
  for (const EnvoyGatewayPage& page : kEnvoyGatewayPages) {
    SCOPED_TRACE(page.file);
    const std::string sample = sampleOf(page.file);
    std::vector<std::string> said;
    describeKinds(config::loadText(sample).problems, said);
    const World world({kClass, kGateway, sample, test::keyPair("gateway-identity", test::server())});
    describeObjects(world, said);
    describeRoutes(world, said);
    EXPECT_THAT(said, ElementsAreArray(page.said));
  }
}

TEST(EnvoyGatewayPages, NameEndpointsThatAreLeftOut) {
  const World world({kClass, kGateway, sampleOf("routing-outside-kubernetes")});
  EXPECT_THAT(world.message("HTTPRoute", "outside", "Accepted"),
              HasSubstr("Service default/outside: EndpointSlices of addressType FQDN are not supported"));
}

TEST(EnvoyGatewayPages, HaveASampleEach) {
  std::set<std::string> listed;
  for (const EnvoyGatewayPage& page : kEnvoyGatewayPages) listed.insert(std::string(page.file) + ".yaml");
  std::set<std::string> there;
  for (const auto& each : std::filesystem::directory_iterator(kSampleFolder)) there.insert(each.path().filename());
  EXPECT_EQ(there, listed);
}

}  // namespace
}  // namespace sluice::compile

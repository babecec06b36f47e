#include "proxy/control/report/endpoint_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/support/health_checks.h"
#include "test/support/reference_page.h"

namespace sluice::control {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRule = "HTTPRoute demo/web, rule 0";
constexpr const char* kOfShop = R"({"object":"Service/demo/shop","endpoint":)";

class EndpointList : public testing::Test {
 protected:
  /// Makes a Service with endpoints 10.0.0.1 to 10.0.0.`count`.
  std::shared_ptr<routing::BackendPlan> service(int count, const std::string& name = "shop") {
    auto plan = std::make_shared<routing::BackendPlan>();
    plan->object = "Service/demo/" + name;
    plan->name = "demo/" + name;
    plan->identity = plan->object;
    plan->endpoints.emplace();
    for (int i = 1; i <= count; ++i) plan->endpoints->push_back(numbered(i));
    std::sort(plan->endpoints->begin(), plan->endpoints->end());
    snapshot_->backends.push_back(plan);
    return plan;
  }
  std::shared_ptr<routing::BackendPlan> named(const std::string& hostname) {
    auto plan = std::make_shared<routing::BackendPlan>();
    plan->object = "Backend.sluice.dev/demo/api";
    plan->hostname = hostname;
    plan->port = 443;
    plan->identity = hostname;
    snapshot_->backends.push_back(plan);
    compile::BackendHealth reach;
    reach.object = plan->object;
    reach.endpoint = hostname + ":443";
    reach.reach = std::make_shared<const routing::BackendReach>();
    configuration_.compiled.health.push_back(std::move(reach));
    return plan;
  }
  static routing::Endpoint numbered(int number) {
    return {"10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256), 80};
  }
  std::shared_ptr<const routing::HealthCheck> check(const std::shared_ptr<const routing::BackendPlan>& plan) {
    const auto health = sluice::test::checkedBy(routing::HealthCheckSettings());
    snapshot_->checked.push_back({plan, health, {}});
    if (plan->endpoints) return health;
    compile::BackendHealth known;
    known.object = plan->object;
    known.endpoint = plan->hostname + ":443";
    known.check = health;
    configuration_.compiled.health.push_back(std::move(known));
    return health;
  }
  std::shared_ptr<const routing::EndpointEjections> ejections(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                              const std::string& rule = kRule) {
    const auto made = std::make_shared<const routing::EndpointEjections>();
    snapshot_->ejections.push_back({plan, rule, made, nullptr});
    return made;
  }
  void eject(const routing::EndpointEjections& ejections, const routing::Endpoint& endpoint) const {
    const routing::PassiveHealthBounds once{.errors = 1, .baseEjection = minutes(1)};
    EXPECT_TRUE(ejections.onError(endpoint, {now_.now, now_.wall}, once, {nullptr, 1000}));
  }
  void serve() { seen_.adopt(*snapshot_, now_); }
  void pass(base::Duration time) {
    now_.now += time;
    now_.wall += time;
  }
  ListedEndpoints list() const {
    CompiledConfiguration configuration = configuration_;
    configuration.compiled.snapshot = snapshot_;
    return listEndpoints(configuration, seen_, now_);
  }
  std::string endpoints() const { return list().endpoints; }
  static std::string shop(int number, const std::string& members) {
    const std::string address = "\"" + numbered(number).ip + ":80\"";
    return kOfShop + address + members.substr(0, members.find('@')) + ",\"address\":" + address +
           members.substr(members.find('@') + 1) + "}";
  }

  std::shared_ptr<routing::Snapshot> snapshot_ = std::make_shared<routing::Snapshot>();
  CompiledConfiguration configuration_;
  SeenEndpoints seen_;
  Moment now_{base::MonotonicTime(minutes(100)), base::WallTime(minutes(1))};
};

TEST_F(EndpointList, HasItsMembersAndStatesInTheReference) {
  const std::string page = sluice::test::referencePage("admin.md");
  EXPECT_EQ(sluice::test::firstWords(sluice::test::pageTable(page, "| member of `endpoints` | meaning |")),
            std::vector<std::string>(kEndpointMembers.begin(), kEndpointMembers.end()));
  EXPECT_EQ(sluice::test::firstWords(sluice::test::pageTable(page, "| state of an endpoint | meaning |")),
            std::vector<std::string>(kEndpointStateNames.begin(), kEndpointStateNames.end()));
}

TEST_F(EndpointList, HasEachEndpointOfAServiceWithItsZone) {
  service(2)->zones = {{"a", {"b"}}, {"", {}}};
  pass(seconds(5));
  serve();
  pass(seconds(5));
  const std::string rest = R"("weight":1,"state":"healthy","since":"1970-01-01T00:01:05.000Z")";
  EXPECT_EQ(endpoints(), "[" + shop(1, R"(@,"zone":"a",)" + rest) + "," + shop(2, "@," + rest) + "]");
  EXPECT_EQ(list().leftOut, "");
}

TEST_F(EndpointList, LeavesTheTimeOutThatIsNotKnown) {
  service(1);
  EXPECT_EQ(endpoints(), "[" + shop(1, R"(@,"weight":1,"state":"healthy")") + "]");
  EXPECT_EQ(listEndpoints(CompiledConfiguration(), seen_, now_).endpoints, "[]");
}

TEST_F(EndpointList, ShowsWhichEndpointsFailTheirChecks) {
  const auto health = check(service(2));
  serve();
  pass(seconds(7));
  health->checks().front()->set({{numbered(1), routing::CheckedState::kUnhealthy}});
  health->update(now_.wall);
  const std::string later = R"("since":"1970-01-01T00:01:07.000Z")";
  EXPECT_EQ(endpoints(),
            "[" + shop(1, R"(,"healthy":false@,"weight":1,"state":"unhealthy",)" + later) + "," +
                shop(2, R"(,"healthy":true@,"weight":1,"state":"healthy","since":"1970-01-01T00:01:00.000Z")") + "]");
  health->checks().front()->set({{numbered(1), routing::CheckedState::kHealthy}});
  health->update(now_.wall);
  EXPECT_THAT(endpoints(), HasSubstr(shop(1, R"(,"healthy":true@,"weight":1,"state":"healthy",)" + later)));
}

TEST_F(EndpointList, ShowsWhichEndpointsAreEjectedAndByWhichRule) {
  const auto plan = service(2);
  const auto first = ejections(plan);
  const auto second = ejections(plan, "HTTPRoute demo/web, rule 1");
  serve();
  pass(seconds(7));
  eject(*first, numbered(2));
  const std::string ejected = R"(@,"weight":1,"state":"ejected","since":"1970-01-01T00:01:07.000Z","by":)";
  EXPECT_THAT(endpoints(), HasSubstr(shop(2, ejected + "\"" + kRule + "\"")));
  pass(seconds(1));
  eject(*second, numbered(2));
  EXPECT_THAT(endpoints(), HasSubstr(shop(2, ejected + "\"" + kRule + " and 1 more rule\"")));
  pass(minutes(2));
  EXPECT_THAT(endpoints(), HasSubstr(shop(2, R"(@,"weight":1,"state":"healthy")")))
      << "it is not known since when: its last ejection may be forgotten";
}

TEST_F(EndpointList, ShowsTheEndpointsOfAServiceThatIsEjectedAsAWhole) {
  const auto whole = std::make_shared<const routing::AnswerHealth>();
  snapshot_->ejections.push_back({service(1), kRule, nullptr, whole});
  serve();
  whole->ejectUntil(now_.now + minutes(1));
  const std::string by = R"("by":")" + std::string(kRule) + "\"";
  EXPECT_EQ(endpoints(), "[" + shop(1, R"(@,"weight":1,"state":"ejected",)" + by) + "]") << "the Service asks for that";
  pass(minutes(2));
  EXPECT_THAT(endpoints(), HasSubstr("healthy"));
  whole->eject(now_.now, {.baseEjection = minutes(1)}, now_.wall);
  EXPECT_EQ(endpoints(),
            "[" + shop(1, R"(@,"weight":1,"state":"ejected","since":"1970-01-01T00:03:00.000Z",)" + by) + "]");
}

TEST_F(EndpointList, ShowsWhichEndpointsAreInTheirSlowStart) {
  service(1)->connection.balancing.slowStart = seconds(30);
  serve();
  pass(seconds(60));
  snapshot_ = std::make_shared<routing::Snapshot>();
  service(2)->connection.balancing.slowStart = seconds(30);
  serve();
  pass(seconds(29));
  const std::string slow = shop(2, R"(@,"weight":1,"state":"slowStart","since":"1970-01-01T00:02:00.000Z")");
  EXPECT_THAT(endpoints(), AllOf(HasSubstr("\"healthy\",\"since\":\"1970-01-01T00:01:00.000Z\""), HasSubstr(slow)));
  pass(seconds(1));
  EXPECT_THAT(endpoints(), Not(HasSubstr("slowStart")));
}

TEST_F(EndpointList, PrefersTheStateThatSaysMost) {
  const auto plan = service(1);
  plan->connection.balancing.slowStart = minutes(1);
  const auto health = check(plan);
  const auto ejected = ejections(plan);
  serve();
  EXPECT_THAT(endpoints(), HasSubstr(R"("state":"slowStart")"));
  eject(*ejected, numbered(1));
  EXPECT_THAT(endpoints(), HasSubstr(R"("state":"ejected")"));
  health->checks().front()->set({{numbered(1), routing::CheckedState::kUnhealthy}});
  health->update(now_.wall);
  EXPECT_THAT(endpoints(), AllOf(HasSubstr(R"("state":"unhealthy")"), Not(HasSubstr("\"by\""))));
}

TEST_F(EndpointList, LeavesOutEndpointsThatServeIfThereAreTooMany) {
  const auto large = service(300);
  const auto ejected = ejections(large);
  for (int i = 0; i < 4; ++i) service(256, "other-" + std::to_string(i));
  eject(*ejected, numbered(299));
  eject(*ejected, numbered(400));
  const ListedEndpoints found = list();
  EXPECT_THAT(found.endpoints,
              HasSubstr(R"("endpoint":"10.0.1.43:80","address":"10.0.1.43:80","weight":1,"state":"ej)"));
  EXPECT_THAT(found.endpoints, Not(HasSubstr("10.0.1.144"))) << "it is none of the Service";
  std::size_t count = 0;
  for (std::size_t at = 0; (at = found.endpoints.find("\"address\"", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, ListedEndpoints::kMost);
  EXPECT_EQ(found.leftOut,
            R"([{"object":"Service/demo/other-3","count":25},{"object":"Service/demo/shop","count":299}])");
}

TEST_F(EndpointList, ShowsWhetherEachBackendServes) {
  const auto api = named("api.test");
  const auto health = check(api);
  named("192.0.2.1");
  serve();
  const std::string begin = R"({"object":"Backend.sluice.dev/demo/api","endpoint":)";
  const std::string rest = R"("weight":1,"state":"healthy","since":"1970-01-01T00:01:00.000Z"})";
  EXPECT_EQ(endpoints(), "[" + begin + R"("192.0.2.1:443","reachable":true,"address":"192.0.2.1:443",)" + rest + "," +
                             begin + R"("api.test:443","reachable":true,"healthy":true,)" + rest + "]");
  pass(seconds(3));
  sluice::test::setHealth(*health, routing::CheckedState::kUnhealthy);
  configuration_.compiled.health.back().serves = false;
  configuration_.compiled.health.back().since = now_.wall;
  EXPECT_EQ(endpoints(), "[" + begin + R"("192.0.2.1:443","reachable":false,"address":"192.0.2.1:443","weight":1,)" +
                             R"("state":"unhealthy","since":"1970-01-01T00:01:03.000Z"},)" + begin +
                             R"("api.test:443","reachable":true,"healthy":false,"weight":1,"state":"unhealthy"}])");
}

TEST_F(EndpointList, ShowsTheFailuresOfConnections) {
  const auto reach = std::make_shared<const routing::BackendReach>();
  named("api.test");
  configuration_.compiled.health.back().reach = reach;
  base::Error refused = base::Error::upstream(base::ErrorType::kConnectionRefused, "connection refused");
  refused.address = "192.0.2.1:443";
  for (int i = 0; i < 2; ++i) reach->onFailure(refused, now_.wall + seconds(i));
  EXPECT_THAT(endpoints(), HasSubstr(R"*("failures":2,"lastError":"connection_refused",)*"
                                     R"*("lastFailure":"connection refused (192.0.2.1:443)",)*"
                                     R"*("lastFailedAt":"1970-01-01T00:01:01.000Z"})*"));
  reach->onOpen();
  EXPECT_THAT(endpoints(), Not(HasSubstr("failures")));
}

TEST_F(EndpointList, ShowsTheAddressesOfANameThatAreEjected) {
  const auto ejected = ejections(named("api.test"));
  const auto ofAddress = ejections(named("192.0.2.1"));
  serve();
  eject(*ejected, {"192.0.2.7", 443});
  eject(*ofAddress, {"192.0.2.1", 443});
  const std::string rest =
      R"("weight":1,"state":"ejected","since":"1970-01-01T00:01:00.000Z","by":")" + std::string(kRule) + "\"}";
  EXPECT_THAT(endpoints(), AllOf(HasSubstr(R"("endpoint":"192.0.2.7:443","address":"192.0.2.7:443",)" + rest),
                                 HasSubstr(R"("192.0.2.1:443","reachable":true,"address":"192.0.2.1:443",)" + rest),
                                 HasSubstr(R"("api.test:443","reachable":true,"weight":1,"state":"healthy")")));
  pass(minutes(2));
  EXPECT_THAT(endpoints(), Not(HasSubstr("192.0.2.7")));
}

TEST(EndpointListOfAConfiguration, HasTheWeightsOfEndpointsOfABackend) {
  using compile::test::World;
  const World world(
      {compile::test::kClass, compile::test::kGateway,
       "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: regions}\n"
       "spec: {destination: {type: Endpoints, endpoints: [{fqdn: {hostname: a.test, port: 80}, weight: 3}, "
       "{fqdn: {hostname: b.test, port: 80}}]}}",
       compile::test::routeWithRules("rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: regions}]}]")});
  CompiledConfiguration configuration;
  configuration.model = world.model();
  configuration.compiled = world.result();
  EXPECT_THAT(listEndpoints(configuration, SeenEndpoints(), Moment()).endpoints,
              AllOf(HasSubstr(R"("endpoint":"a.test:80","reachable":true,"weight":3,)"),
                    HasSubstr(R"("endpoint":"b.test:80","reachable":true,"weight":1,)")));
}

}  // namespace
}  // namespace sluice::control

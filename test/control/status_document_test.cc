#include "proxy/control/report/status_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/reference_page.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;
using testing::Not;

CompiledConfiguration withGateway() {
  CompiledConfiguration configuration;
  config::ObjectStatus gateway;
  gateway.group = "gateway.networking.k8s.io";
  gateway.kind = "Gateway";
  gateway.nameSpace = "demo";
  gateway.name = "egress";
  gateway.servedRevision = "0123456789ab";
  gateway.servedSince = base::WallTime(std::chrono::seconds(2));
  configuration.compiled.statuses.push_back(std::move(gateway));
  return configuration;
}

config::Problem problemAt(std::uint32_t line) {
  config::Problem problem;
  problem.position = {std::make_shared<const std::string>("a.yaml"), line, 3};
  problem.object = "Gateway demo/egress";
  problem.field = "spec.listeners[0].port";
  problem.message = "must be a number";
  return problem;
}

TEST(StatusDocument, HasItsStatesInTheReference) {
  std::vector<std::string> names;
  for (const ConfigState state : kConfigStates) names.emplace_back(configStateName(state));
  const std::string page = sluice::test::referencePage("revisions.md");
  const std::string section = sluice::test::pageSection(page, "## Revisions and rollback");
  EXPECT_EQ(sluice::test::firstWords(sluice::test::pageTable(section, "| state | meaning |")), names);
  EXPECT_THAT(sluice::test::referencePage("metrics.md"), HasSubstr("`sluice_config_revision_info`"));
}

TEST(StatusDocument, ShowsTheDesiredAndServedRevisionsAndSinceWhen) {
  Revisions revisions{"new", "new", "old", Standing::kRefused, base::WallTime(std::chrono::seconds(1))};
  EXPECT_EQ(
      statusDocument(withGateway(), revisions),
      "{\"desired\":\"new\",\"published\":\"new\",\"served\":\"old\",\"state\":\"Rollback\","
      "\"since\":\"1970-01-01T00:00:01.000Z\",\"problems\":[],\"objects\":[{\"group\":\"gateway.networking.k8s.io\","
      "\"kind\":\"Gateway\",\"namespace\":\"demo\",\"name\":\"egress\",\"status\":{\"conditions\":[]},"
      "\"servedRevision\":\"0123456789ab\",\"servedSince\":\"1970-01-01T00:00:02.000Z\"}],\"endpoints\":[]}\n");
}

TEST(StatusDocument, ListsProblemsByFileLineObjectAndField) {
  Revisions revisions;
  revisions.problems = std::make_shared<const config::Problems>(1, problemAt(7));
  EXPECT_THAT(statusDocument(CompiledConfiguration(), revisions),
              HasSubstr("\"problems\":[{\"severity\":\"error\",\"file\":\"a.yaml\",\"line\":7,\"column\":3,"
                        "\"object\":\"Gateway demo/egress\",\"field\":\"spec.listeners[0].port\","
                        "\"message\":\"must be a number\"}],"));
}

TEST(StatusDocument, ShowsWhetherEachBackendServes) {
  CompiledConfiguration configuration;
  compile::BackendHealth reach;
  reach.object = "Backend.sluice.dev/demo/api";
  reach.endpoint = "api.test:443";
  reach.reach = std::make_shared<const processing::ServerHealth>();
  reach.serves = false;
  compile::BackendHealth healthy = reach;
  healthy.reach = nullptr;
  healthy.check = std::make_shared<const routing::HealthCheck>(routing::HealthCheckSettings());
  healthy.serves = true;
  compile::BackendHealth unhealthy = healthy;
  unhealthy.serves = false;
  compile::BackendHealth other = reach;
  other.endpoint = "api.test:8443";
  other.serves = true;
  configuration.compiled.health = {reach, unhealthy, healthy, other};
  EXPECT_THAT(statusDocument(configuration, Revisions()),
              HasSubstr("\"endpoints\":[{\"object\":\"Backend.sluice.dev/demo/api\",\"endpoint\":\"api.test:443\","
                        "\"reachable\":false,\"healthy\":false},"
                        "{\"object\":\"Backend.sluice.dev/demo/api\",\"endpoint\":\"api.test:8443\","
                        "\"reachable\":true}]"));
}

TEST(StatusDocument, CutsALongListOfProblemsAndSaysSo) {
  Revisions revisions;
  auto problems = std::make_shared<config::Problems>();
  for (std::uint32_t line = 1; line <= 1002; ++line) problems->push_back(problemAt(line));
  revisions.problems = problems;
  const std::string document = statusDocument(CompiledConfiguration(), revisions);
  EXPECT_THAT(document, HasSubstr("\"line\":1000,"));
  EXPECT_THAT(document, Not(HasSubstr("\"line\":1001,")));
  EXPECT_THAT(document, HasSubstr("2 more problems: `sluice validate` lists them"));
}

}  // namespace
}  // namespace sluice::control

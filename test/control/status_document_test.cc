#include "proxy/control/report/status_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/reference_page.h"

namespace sluice::control {
namespace {

using testing::AllOf;
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
  EXPECT_EQ(statusDocument(withGateway(), revisions),
            "{\"desired\":\"new\",\"published\":\"new\",\"served\":\"old\",\"state\":\"Rollback\","
            "\"degraded\":[],\"since\":\"1970-01-01T00:00:01.000Z\",\"problems\":[],\"faultyObjects\":[],\"objects\":[{"
            "\"group\":\"gateway."
            "networking.k8s.io\","
            "\"kind\":\"Gateway\",\"namespace\":\"demo\",\"name\":\"egress\",\"status\":{\"conditions\":[]},"
            "\"servedRevision\":\"0123456789ab\",\"servedSince\":\"1970-01-01T00:00:02.000Z\"}],\"endpoints\":[]}\n");
}

TEST(StatusDocument, NamesTheObjectsWithFaultsAndSaysHowManyItLeavesOut) {
  CompiledConfiguration configuration = withGateway();
  config::ObjectStatus faulty = configuration.compiled.statuses[0];
  faulty.conditions.push_back({"Programmed", config::ConditionStatus::kFalse, "Invalid", "closed", std::nullopt});
  configuration.compiled.statuses.push_back(faulty);
  EXPECT_THAT(statusDocument(configuration, Revisions()),
              AllOf(HasSubstr(R"("state":"InSync","degraded":["Invalid"],"since":)"),
                    HasSubstr(R"("faultyObjects":[{"group":"gateway.networking.k8s.io","kind":"Gateway",)"
                              R"("namespace":"demo","name":"egress","condition":"Programmed","reason":"Invalid",)"
                              R"("message":"closed"}],"objects":)")));
  for (int i = 0; i < 12; ++i) configuration.compiled.statuses.push_back(faulty);
  EXPECT_THAT(statusDocument(configuration, Revisions()),
              HasSubstr(R"("message":"closed"}],"faultyObjectsLeftOut":[{"namespace":"demo","count":3}],"objects":)"));
}

TEST(StatusDocument, NamesTheZoneOfTheGatewayIfItIsKnown) {
  EXPECT_THAT(statusDocument(CompiledConfiguration(), Revisions(), "eu-west-1a"),
              HasSubstr(R"(,"zone":"eu-west-1a",)"));
  EXPECT_THAT(statusDocument(CompiledConfiguration(), Revisions()), Not(HasSubstr("zone")));
}

TEST(StatusDocument, ListsProblemsByFileLineObjectAndField) {
  Revisions revisions;
  revisions.problems = std::make_shared<const config::Problems>(1, problemAt(7));
  EXPECT_THAT(statusDocument(CompiledConfiguration(), revisions),
              HasSubstr("\"problems\":[{\"severity\":\"error\",\"file\":\"a.yaml\",\"line\":7,\"column\":3,"
                        "\"object\":\"Gateway demo/egress\",\"field\":\"spec.listeners[0].port\","
                        "\"message\":\"must be a number\"}],"));
}

TEST(StatusDocument, ListsEndpointsAndSaysHowManyItLeavesOut) {
  const ListedEndpoints all{R"([{"object":"a"}])", ""};
  EXPECT_THAT(statusDocument(CompiledConfiguration(), Revisions(), "", all),
              testing::EndsWith(",\"endpoints\":[{\"object\":\"a\"}]}\n"));
  const ListedEndpoints some{"[]", R"([{"object":"a","count":3}])"};
  EXPECT_THAT(statusDocument(CompiledConfiguration(), Revisions(), "", some),
              testing::EndsWith(",\"endpoints\":[],\"endpointsLeftOut\":[{\"object\":\"a\",\"count\":3}]}\n"));
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

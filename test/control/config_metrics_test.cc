#include "proxy/control/report/config_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/read_families.h"
#include "test/support/test_pki.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;
using testing::Not;

config::ObjectStatus route(std::string name, config::ConditionStatus first, config::ConditionStatus second) {
  config::ObjectStatus status;
  status.kind = "HTTPRoute";
  status.name = std::move(name);
  status.shape = config::StatusShape::kParents;
  for (const config::ConditionStatus each : {first, second}) {
    config::ParentStatus parent;
    parent.conditions.push_back({"Accepted", each, "Because", "", std::nullopt});
    status.parents.push_back(std::move(parent));
  }
  return status;
}

TEST(ConfigMetrics, AreInTheReference) {
  sluice::test::expectInReference(kConfigFamilies, "| metric of the configuration | kind | labels | meaning |");
}

TEST(ConfigMetrics, CountObjectsOnceForEachConditionAndStatus) {
  CompiledConfiguration configuration;
  using enum config::ConditionStatus;
  configuration.compiled.statuses.push_back(route("a", kTrue, kTrue));
  configuration.compiled.statuses.push_back(route("b", kTrue, kFalse));
  Revisions revisions{"new", "new", "old"};
  revisions.lastGood = base::WallTime(std::chrono::milliseconds(1500));
  revisions.problems = std::make_shared<const config::Problems>(3);
  std::string page;
  appendConfigMetrics(page, &configuration, revisions, CountedObjects::kAll);
  EXPECT_THAT(page, HasSubstr("\nsluice_config_revision_info{desired=\"new\",published=\"new\",served=\"old\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("\nsluice_config_last_good_reload_timestamp_seconds 1.5\n"));
  EXPECT_THAT(page, HasSubstr("\nsluice_config_problems 3\n"));
  const std::string accepted = "sluice_config_objects{kind=\"HTTPRoute\",condition=\"Accepted\",status=";
  EXPECT_THAT(page, HasSubstr(accepted + "\"True\"} 2\n"));
  EXPECT_THAT(page, HasSubstr(accepted + "\"False\"} 1\n"));
}

TEST(ConfigMetrics, CountObjectsWithFaultsByTheirKindUntilTheyAreMended) {
  using enum config::ConditionStatus;
  CompiledConfiguration configuration;
  configuration.compiled.statuses.push_back(route("a", kTrue, kFalse));
  configuration.compiled.statuses.push_back(route("b", kFalse, kFalse));
  auto problems = std::make_shared<config::Problems>();
  problems->push_back({config::Severity::kError, {}, "Secret demo/key", "", "is odd"});
  problems->push_back({config::Severity::kWarning, {}, "Service demo/web", "", "has no endpoints"});
  Revisions revisions;
  revisions.problems = problems;
  std::string page;
  appendConfigMetrics(page, &configuration, revisions, CountedObjects::kAll);
  EXPECT_THAT(page, HasSubstr("\nsluice_config_degraded 1\n"));
  EXPECT_THAT(page, HasSubstr("\nsluice_config_faulty_objects{kind=\"HTTPRoute\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("\nsluice_config_faulty_objects{kind=\"Secret\"} 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("kind=\"Service\"")));
  CompiledConfiguration mended;
  mended.compiled.statuses.push_back(route("a", kTrue, kTrue));
  std::string after;
  appendConfigMetrics(after, &mended, Revisions(), CountedObjects::kAll);
  EXPECT_THAT(after, HasSubstr("\nsluice_config_degraded 0\n"));
  EXPECT_THAT(after, HasSubstr("\nsluice_config_faulty_objects{kind=\"HTTPRoute\"} 0\n"));
}

TEST(ConfigMetrics, CountOnlyServedObjectsIfTheyAreAskedTo) {
  CompiledConfiguration configuration;
  config::ObjectStatus used;
  used.kind = "PayloadProcessor";
  used.nameSpace = "of-another";
  used.name = "p";
  used.conditions.push_back(
      {"extension.sluice.dev/secret-plan", config::ConditionStatus::kFalse, "Invalid", "", std::nullopt});
  configuration.compiled.statuses.push_back(used);
  Revisions revisions;
  revisions.problems = std::make_shared<const config::Problems>();
  std::string all;
  appendConfigMetrics(all, &configuration, revisions, CountedObjects::kAll);
  EXPECT_THAT(all, HasSubstr("secret-plan"));
  std::string served;
  appendConfigMetrics(served, &configuration, revisions, CountedObjects::kServed);
  EXPECT_THAT(served, Not(HasSubstr("secret-plan")));
}

TEST(ConfigMetrics, CountServersAndProblemsOfServedObjectsAloneIfTheyAreAskedTo) {
  CompiledConfiguration configuration;
  const auto add = [&](std::string_view group, std::string_view kind, const std::string& nameSpace) {
    config::ObjectStatus status;
    status.group = group;
    status.kind = kind;
    status.nameSpace = nameSpace;
    status.name = "a";
    configuration.compiled.statuses.push_back(status);
  };
  add(config::kGatewayGroup, "Gateway", "ours");
  add(config::kGatewayGroup, "HTTPRoute", "ours");
  add(config::kOwnGroup, "Backend", "ours");
  add(config::kOwnGroup, "PayloadProcessor", "theirs");
  configuration.compiled.namedBackends = {"Backend.sluice.dev/ours/a"};
  add(config::kOwnGroup, "Backend", "theirs");
  for (const char* object :
       {"Backend.sluice.dev ours/a", "Backend.sluice.dev theirs/a", "HTTPRoute.gateway.networking.k8s.io ours/a"}) {
    configuration.compiled.servers.push_back(
        {object, "u", "", compile::ServerLoss::kRefused, nullptr, {processing::ServerReach::kActive}});
  }
  auto problems = std::make_shared<config::Problems>();
  for (const char* object : {"", "HTTPRoute ours/a", "Backend theirs/a", "ConfigMap ours/c", "ConfigMap theirs/c",
                             "PayloadProcessor theirs/a", "GatewayClass c"}) {
    problems->emplace_back().object = object;
  }
  Revisions revisions;
  revisions.problems = problems;
  std::string all;
  appendConfigMetrics(all, &configuration, revisions, CountedObjects::kAll);
  EXPECT_THAT(all, HasSubstr("\nsluice_processor_servers{state=\"active\"} 3\n"));
  EXPECT_THAT(all, HasSubstr("\nsluice_config_problems 7\n"));
  std::string served;
  appendConfigMetrics(served, &configuration, revisions, CountedObjects::kServed);
  EXPECT_THAT(served, HasSubstr("\nsluice_processor_servers{state=\"active\"} 2\n"));
  EXPECT_THAT(served, HasSubstr("\nsluice_config_problems 4\n"));
}

TEST(ConfigMetrics, CountServersOfProcessorsByTheirState) {
  using enum processing::ServerReach;
  CompiledConfiguration configuration;
  for (const processing::ServerReach reach : {kActive, kDegraded, kActive}) {
    configuration.compiled.servers.push_back({"Backend b", "u", "", compile::ServerLoss::kRefused, nullptr, {reach}});
  }
  config::ObjectStatus status = route("a", config::ConditionStatus::kTrue, config::ConditionStatus::kFalse);
  for (config::ParentStatus& each : status.parents) each.conditions.front().type = "extension.sluice.dev/u";
  configuration.compiled.statuses.push_back(std::move(status));
  Revisions revisions;
  revisions.problems = std::make_shared<const config::Problems>();
  std::string page;
  appendConfigMetrics(page, &configuration, revisions, CountedObjects::kAll);
  EXPECT_THAT(page, HasSubstr("\nsluice_processor_servers{state=\"pending\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("\nsluice_processor_servers{state=\"active\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("\nsluice_processor_servers{state=\"degraded\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("condition=\"extension.sluice.dev/u\",status=\"False\"} 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("condition=\"extension.sluice.dev/u\",status=\"True\"")));
}

TEST(ConfigMetrics, NameTheFirstCertificateOfAListenerThatExpires) {
  routing::Bind bind;
  bind.port = 443;
  for (const int days : {2, 1, 3}) {
    sluice::test::CertificateSpec spec;
    spec.notAfter = std::chrono::hours(24 * days);
    bind.identities.push_back({std::make_shared<const pki::CertificateChain>(
                                   pki::CertificateChain::parse(sluice::test::selfSigned(spec).certificate).value()),
                               nullptr});
  }
  const auto first =
      std::chrono::duration_cast<std::chrono::seconds>(bind.identities[1].certificate->notAfter().time_since_epoch());
  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->binds.push_back(std::move(bind));
  CompiledConfiguration configuration;
  configuration.compiled.snapshot = std::move(snapshot);
  std::string page;
  appendConfigMetrics(page, &configuration, Revisions(), CountedObjects::kAll);
  const std::string name = "sluice_certificate_expiry_timestamp_seconds{object=\"listener at *:443\"} ";
  const std::size_t at = page.find(name);
  ASSERT_NE(at, std::string::npos) << page;
  EXPECT_EQ(std::stod(page.substr(at + name.size())), static_cast<double>(first.count()));
  std::string nothing;
  appendConfigMetrics(nothing, nullptr, Revisions(), CountedObjects::kAll);
  EXPECT_THAT(nothing, Not(HasSubstr(name)));
}

}  // namespace
}  // namespace sluice::control

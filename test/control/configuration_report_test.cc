#include "proxy/control/report/configuration_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/content/output/output.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;

constexpr std::string_view kReportedClass = R"(apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: egress}
spec: {controllerName: sluice.dev/egress-gateway}
)";
constexpr std::string_view kLostRoute = R"(---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: egress}, {name: other}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: wrong}
spec: {hostnames: ["100%"]}
)";
constexpr std::string_view kIdleRoute = R"(---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: idle}
spec: {}
)";

CompiledConfiguration reported(std::string_view first, std::string_view second = {}) {
  config::TextCache texts;
  ConfigurationCache cache;
  const std::string text = std::string(first) + std::string(second);
  return makeConfiguration(config::readTexts({{"a.yaml", text}}, {}, base::Secret("key"), texts), nullptr, {}, cache);
}

TEST(ConfigurationReport, ListsEachProblemOnceAndBeforeTheObjects) {
  EXPECT_EQ(
      reportText(reported(kReportedClass, kLostRoute)),
      "a.yaml:10:16: error: HTTPRoute default/web: spec.parentRefs[0]: Gateway default/egress: it does not exist\n"
      "a.yaml:10:32: error: HTTPRoute default/web: spec.parentRefs[1]: Gateway default/other: it does not exist\n"
      "a.yaml:15:20: error: HTTPRoute default/wrong: spec.hostnames[0]: must be a hostname in lower case that may "
      "begin "
      "with \"*.\", but is \"100%\"\n"
      "GatewayClass egress (gateway.networking.k8s.io)\n"
      "  Accepted          True  Accepted\n"
      "  SupportedVersion  True  SupportedVersion  Gateway API v1.6.1\n"
      "HTTPRoute default/web (gateway.networking.k8s.io)\n"
      "  parent egress  Accepted      False  NoMatchingParent\n"
      "  parent egress  ResolvedRefs  True   ResolvedRefs\n"
      "  parent other   Accepted      False  NoMatchingParent\n"
      "  parent other   ResolvedRefs  True   ResolvedRefs\n"
      "HTTPRoute default/wrong (gateway.networking.k8s.io)\n"
      "  Accepted  False  Invalid\n"
      "not valid: 3 errors, 2 objects not fully served\n");
}

TEST(ConfigurationReport, CountsWarningsThatDoNoHarm) {
  const CompiledConfiguration configuration = reported(kReportedClass, kIdleRoute);
  EXPECT_TRUE(configuration.flawless());
  EXPECT_THAT(reportText(configuration), HasSubstr("\nvalid: 1 object served as written, 1 warning\n"));
}

TEST(ConfigurationReport, IsAsShortAsItCanBeIfItIsQuiet) {
  EXPECT_EQ(reportText(reported(kReportedClass), /*quiet=*/true), "");
  EXPECT_EQ(
      reportText(reported(kReportedClass, kIdleRoute), /*quiet=*/true),
      "a.yaml:6:1: warning: HTTPRoute default/idle: spec.parentRefs: names no Gateway, so nothing serves this route\n");
}

TEST(ConfigurationReport, IsWorkflowCommandsForGithub) {
  EXPECT_EQ(reportGithub(reported(kReportedClass)), "");
  const std::string report = reportGithub(reported(kReportedClass, kLostRoute));
  EXPECT_THAT(report, HasSubstr("::error file=a.yaml,line=10,col=16,title=HTTPRoute default/web::spec.parentRefs[0]: "
                                "Gateway default/egress: it does not exist\n"));
  EXPECT_THAT(report, HasSubstr("but is \"100%25\"\n"));
  EXPECT_THAT(reportGithub(reported(kReportedClass, kIdleRoute)), HasSubstr("::warning file=a.yaml,line=6,"));
}

TEST(ConfigurationReport, IsADocumentForPrograms) {
  EXPECT_EQ(content::outputJson(reportValue({"good"}, reported(kReportedClass), /*quiet=*/true)),
            R"({"paths":["good"],"valid":true,"problems":[]})");
  const std::string report =
      content::outputJson(reportValue({"bad", "worse"}, reported(kReportedClass, kLostRoute), false));
  EXPECT_TRUE(report.starts_with(
      R"({"paths":["bad","worse"],"valid":false,"problems":[{"severity":"error","file":"a.yaml","line":10,)"
      R"("column":16,"object":"HTTPRoute default/web","field":"spec.parentRefs[0]",)"
      R"("message":"Gateway default/egress: it does not exist"})"))
      << report;
  EXPECT_THAT(report, HasSubstr(R"("objects":[{"group":"gateway.networking.k8s.io","kind":"GatewayClass")"));
}

}  // namespace
}  // namespace sluice::control

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRef = "backendRef: {group: gateway.networking.k8s.io, kind: Backend, name: b}";

Configuration loadMirrors(const std::string& filters) {
  return loadText(
      object("gateway.networking.k8s.io/v1", "HTTPRoute", "r", "spec:\n  rules:\n  - filters: [" + filters + "]\n"));
}
std::string mirror(const std::string& fields) { return "{type: RequestMirror, requestMirror: {" + fields + "}}"; }
RequestMirrorFilter mirrorOf(const std::string& fields) {
  const Configuration configuration = loadMirrors(mirror(fields));
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  return configuration.model.all<HttpRoute>().at(0).rules.at(0).filters.mirrors.at(0);
}
std::vector<std::string> problemsOfMirror(const std::string& fields) {
  return rendered(loadMirrors(mirror(fields)).problems);
}

TEST(RequestMirrorFilter, CopiesEveryRequestByDefault) {
  const RequestMirrorFilter all = mirrorOf(kRef);
  EXPECT_EQ(all.object.kind, "Backend");
  EXPECT_EQ(all.object.path, "spec.rules[0].filters[0].requestMirror.backendRef");
  EXPECT_EQ(all.port, 0);
  EXPECT_EQ(all.numerator, all.denominator);
  const RequestMirrorFilter service = mirrorOf("backendRef: {name: s, namespace: other, port: 80}");
  EXPECT_EQ(service.object.kind, "Service");
  EXPECT_EQ(service.object.group, "");
  EXPECT_EQ(service.object.nameSpace, "other");
  EXPECT_EQ(service.port, 80);
}

TEST(RequestMirrorFilter, CopiesAPercentageOrAFraction) {
  for (const int percent : {0, 42, 100}) {
    const RequestMirrorFilter some = mirrorOf(kRef + (", percent: " + std::to_string(percent)));
    EXPECT_EQ(some.numerator, static_cast<std::uint32_t>(percent));
    EXPECT_EQ(some.denominator, 100u);
  }
  const RequestMirrorFilter rare = mirrorOf(kRef + std::string(", fraction: {numerator: 1, denominator: 2147483647}"));
  EXPECT_EQ(rare.numerator, 1u);
  EXPECT_EQ(rare.denominator, 2147483647u);
  EXPECT_EQ(mirrorOf(kRef + std::string(", fraction: {numerator: 7}")).denominator, 100u);
}

TEST(RequestMirrorFilter, MayBeRepeated) {
  const Configuration configuration = loadMirrors(mirror(kRef) + ", " + mirror(kRef));
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  EXPECT_EQ(configuration.model.all<HttpRoute>().at(0).rules.at(0).filters.mirrors.size(), 2u);
}

TEST(RequestMirrorFilter, ChecksItsFields) {
  const std::string ref = kRef;
  EXPECT_THAT(problemsOfMirror(""), ElementsAre(EndsWith("requestMirror.backendRef: is required")));
  EXPECT_THAT(problemsOfMirror("backendRef: {name: s}"), ElementsAre(EndsWith("port: is required for a Service")));
  EXPECT_THAT(problemsOfMirror("backendRef: {name: s, port: 80, weight: 1}"),
              ElementsAre(HasSubstr("weight: unknown field")));
  EXPECT_THAT(problemsOfMirror(ref + ", percent: 101"), ElementsAre(HasSubstr("requestMirror.percent: ")));
  EXPECT_THAT(problemsOfMirror(ref + ", percent: -1"), ElementsAre(HasSubstr("requestMirror.percent: ")));
  EXPECT_THAT(problemsOfMirror(ref + ", percent: 1, fraction: {numerator: 1}"),
              ElementsAre(EndsWith("fraction: must not be given together with percent")));
  EXPECT_THAT(problemsOfMirror(ref + ", fraction: {denominator: 1}"), ElementsAre(EndsWith("numerator: is required")));
  EXPECT_THAT(problemsOfMirror(ref + ", fraction: {numerator: 1, denominator: 0}"),
              ElementsAre(HasSubstr("fraction.denominator: ")));
  EXPECT_THAT(problemsOfMirror(ref + ", fraction: {numerator: 3, denominator: 2}"),
              ElementsAre(EndsWith("numerator: must not be greater than denominator")));
}

}  // namespace
}  // namespace sluice::config

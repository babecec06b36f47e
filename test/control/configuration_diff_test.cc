#include "proxy/control/report/configuration_diff.h"

#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::control {
namespace {

CompiledConfiguration configurationOf(const std::vector<std::string>& documents,
                                      const CompiledConfiguration* previous = nullptr) {
  std::string text;
  for (const std::string& each : documents) text += "---\n" + each;
  config::TextCache texts;
  ConfigurationCache cache;
  return makeConfiguration(config::readTexts({{"a.yaml", text}}, {}, base::Secret("key"), texts), previous, {}, cache);
}

class ConfigurationDiff : public testing::Test {
 protected:
  std::string from(const std::vector<std::string>& before, const std::vector<std::string>& after) {
    const CompiledConfiguration served = configurationOf(before);
    return changesOutput(changesOf(served, configurationOf(after, &served))).text;
  }
  const std::string class_{compile::test::kClass};
  const std::string gateway_{compile::test::kGateway};
  const std::string backend_{compile::test::kBackend};
  const std::string route_{compile::test::kRoute};
};

TEST_F(ConfigurationDiff, IsEmptyForTheSame) {
  EXPECT_EQ(from({class_, gateway_, backend_, route_}, {route_, backend_, gateway_, class_}), "no differences\n");
}

TEST_F(ConfigurationDiff, NamesObjectsListenersAndBackendsThatComeAndGo) {
  EXPECT_EQ(from({class_, gateway_, backend_, route_}, {class_, gateway_}),
            "- object Backend default/origin (gateway.networking.k8s.io)\n"
            "- object HTTPRoute default/route (gateway.networking.k8s.io)\n"
            "- backend default/origin:8080: its idle connections are closed\n"
            "3 differences\n");
  EXPECT_EQ(from({class_, gateway_}, {class_, compile::test::with(gateway_, "port: 80", "port: 81")}),
            "~ object Gateway default/egress (gateway.networking.k8s.io)\n"
            "- listener 127.0.0.1:80: its clients' connections are drained\n"
            "+ listener 127.0.0.1:81\n"
            "3 differences\n");
}

TEST_F(ConfigurationDiff, NamesTheConditionsThatChange) {
  const std::string changes =
      from({class_, gateway_, backend_, route_},
           {class_, gateway_, backend_, compile::test::with(route_, "name: origin", "name: other")});
  EXPECT_NE(changes.find("+ problem HTTPRoute default/route: parent egress: ResolvedRefs: False, BackendNotFound: "),
            std::string::npos)
      << changes;
}

TEST_F(ConfigurationDiff, IsAListOfChangesInJson) {
  const content::Output output = changesOutput({{ConfigurationChange::Kind::kAdded, "listener", "*:80", ""},
                                                {ConfigurationChange::Kind::kRemoved, "backend", "a/b:1", "gone"}});
  EXPECT_EQ(content::outputJson(output.value),
            R"([{"change":"added","what":"listener","name":"*:80"},)"
            R"({"change":"removed","what":"backend","name":"a/b:1","detail":"gone"}])");
}

}  // namespace
}  // namespace sluice::control

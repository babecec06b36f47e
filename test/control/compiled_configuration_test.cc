// Tests one configuration from its files to validate's report and the admin document, by the code that `run` uses.
#include "proxy/control/configuration/compiled_configuration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "proxy/control/report/configuration_report.h"

namespace sluice::control {
namespace {

constexpr std::string_view kGood = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: sluice}
spec: {controllerName: sluice.dev/egress-gateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: demo, name: egress}
spec:
  gatewayClassName: sluice
  listeners: [{name: web, protocol: HTTP, port: 8080}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: demo, name: route}
spec:
  parentRefs: [{name: egress}]
  rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]
---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {namespace: demo, name: origin}
spec: {destination: {type: FQDN, fqdn: {hostname: origin.test, port: 8080}}}
)";

CompiledConfiguration read(const std::vector<std::string>& paths, const CompiledConfiguration* previous = nullptr) {
  config::TextCache texts;
  ConfigurationCache cache;
  return makeConfiguration(config::readPaths(paths, base::Secret("key"), texts), previous, {}, cache);
}

class Files : public ::testing::Test {
 protected:
  Files() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string with(std::string_view from, std::string_view to) {
    std::string text(kGood);
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::string folder_ = ::testing::TempDir() + "configuration_test.XXXXXX";
};

TEST_F(Files, AGoodSetIsServedAsWritten) {
  const CompiledConfiguration configuration = read({write("all.yaml", kGood)});
  EXPECT_TRUE(configuration.usable());
  EXPECT_TRUE(configuration.flawless());
  const std::string report = reportText(configuration);
  for (const char* name : {"GatewayClass", "demo/egress", "demo/route", "demo/origin"})
    EXPECT_TRUE(contains(report, name)) << report;
  EXPECT_TRUE(report.ends_with("valid: 4 objects served as written\n")) << report;
  ASSERT_EQ(configuration.compiled.snapshot->binds.size(), 1U);
  EXPECT_EQ(configuration.compiled.snapshot->binds[0].port, 8080);
}

TEST_F(Files, AreServedThoughEachListenerIsClosedByItsOwnFault) {
  const auto servedHere = [&](std::string_view from, std::string_view to) {
    return read({write("all.yaml", with(from, to))}).isServedHere();
  };
  EXPECT_TRUE(servedHere("", ""));
  EXPECT_TRUE(servedHere("protocol: HTTP,", "protocol: HTTPS,")) << "its certificate is missing";
  EXPECT_TRUE(servedHere("protocol: HTTP,", "protocol: UDP,"));
  EXPECT_TRUE(servedHere("listeners: [", "addresses: [{type: Hostname, value: a.test}]\n  listeners: ["));
  EXPECT_FALSE(servedHere("gatewayClassName: sluice", "gatewayClassName: [sluice]")) << "a schema refuses the Gateway";
  EXPECT_FALSE(read({write("all.yaml", kGood.substr(0, kGood.find("---")))}).isServedHere()) << "there is no Gateway";
}

TEST_F(Files, AreNotServedWhereTheProcessCannotListenAtAll) {
  const auto servedHere = [&](const std::string& address, const std::string& controller = {}, bool several = false) {
    config::TextCache texts;
    ConfigurationCache cache;
    const std::string listed = address.empty() ? "" : "addresses: [{type: IPAddress, value: " + address + "}]\n  ";
    config::ObjectSet set = config::readPaths({write("all.yaml", with("listeners: [", listed + "listeners: ["))},
                                              base::Secret("key"), texts);
    set.keeping.controllerNamespace = controller;
    set.keeping.severalGateways = several;
    return makeConfiguration(std::move(set), nullptr, {}, cache, {{address, 8080, "in use"}}).isServedHere();
  };
  EXPECT_FALSE(servedHere(""));
  EXPECT_FALSE(servedHere("192.0.2.1")) << "the machine may get the address";
  EXPECT_FALSE(servedHere("", "sluice-system")) << "another Pod may be able to";
  EXPECT_TRUE(servedHere("192.0.2.1", "sluice-system")) << "no Pod has an address that its Gateway chooses";
  EXPECT_FALSE(servedHere("192.0.2.1", "sluice-system", /*several=*/true));
}

TEST_F(Files, AFolderIsReadAsOneSet) {
  const std::size_t half = kGood.find("---", kGood.find("Gateway\n"));
  write("a.yaml", kGood.substr(0, half));
  write("b.yaml", kGood.substr(half));
  EXPECT_TRUE(read({folder_}).flawless());
}

TEST_F(Files, AMisspeltFieldIsReportedWithFileAndLineAndTheRestIsServed) {
  const std::string path = write("all.yaml", with("gatewayClassName: sluice", "gatewayClassNam: sluice"));
  const CompiledConfiguration configuration = read({path});
  EXPECT_FALSE(configuration.flawless());
  const std::string report = reportText(configuration);
  EXPECT_TRUE(contains(report, path + ":11")) << report;
  EXPECT_TRUE(contains(report, "gatewayClassNam")) << report;
  EXPECT_TRUE(contains(report, "\nnot valid: ")) << report;
}

TEST_F(Files, ASetWithABrokenReferenceIsUsableButNotFlawless) {
  const CompiledConfiguration configuration =
      read({write("all.yaml", with("name: origin, port: 8080}]", "name: other, port: 8080}]"))});
  EXPECT_TRUE(configuration.usable());
  EXPECT_FALSE(configuration.flawless());
  const std::string report = reportText(configuration);
  EXPECT_TRUE(contains(report, "not valid: 1 error, 1 object not fully served")) << report;
  EXPECT_FALSE(contains(report, "nothing can be served"));
}

TEST_F(Files, AnObjectThatBecomesInvalidIsServedInItsPreviousVersion) {
  const CompiledConfiguration good = read({write("all.yaml", kGood)});
  const std::string misspelt = with("gatewayClassName: sluice", "gatewayClassNam: sluice");
  const CompiledConfiguration kept = read({write("all.yaml", misspelt)}, &good);
  ASSERT_EQ(kept.compiled.snapshot->binds.size(), 1U);
  EXPECT_TRUE(kept.usable());
  EXPECT_FALSE(kept.flawless());
  EXPECT_NE(kept.revision, good.revision);
  const std::string report = reportText(kept);
  EXPECT_TRUE(contains(report, "; its previous valid version serves on")) << report;

  const CompiledConfiguration again = read({write("all.yaml", misspelt)}, &kept);
  EXPECT_TRUE(contains(reportText(again), "; its previous valid version serves on"));
  EXPECT_TRUE(read({write("all.yaml", kGood)}, &again).flawless());
}

TEST_F(Files, GatewaysGoOnWithTheAddressesThatTheirStatusesReportUnlessTheyAreServedElsewhere) {
  const std::string path = write("all.yaml", kGood);
  const auto made = [&](std::optional<config::ReportedAddresses> addresses, const CompiledConfiguration* previous) {
    config::TextCache texts;
    ConfigurationCache cache;
    config::ObjectSet set = config::readPaths({path}, base::Secret("key"), texts);
    if (addresses) set.addresses = std::make_shared<const config::ReportedAddresses>(*std::move(addresses));
    return makeConfiguration(std::move(set), previous, {}, cache, {},
                             compile::AddressPool::parse("127.8.0.0/24").value());
  };
  const config::ReportedAddresses reported{{"Gateway demo/egress", "127.8.0.201"}};
  const CompiledConfiguration first = made(reported, nullptr);
  EXPECT_EQ(first.compiled.addresses, reported);
  const CompiledConfiguration next = made(config::ReportedAddresses{{"Gateway demo/egress", "127.8.0.202"}}, &first);
  EXPECT_EQ(next.compiled.addresses, first.compiled.addresses);

  const CompiledConfiguration restored = made(std::nullopt, nullptr);
  EXPECT_NE(restored.compiled.addresses, reported);
  EXPECT_EQ(made(reported, &restored).compiled.addresses, reported)
      << "the last good configuration was restored before the statuses could be read";
  EXPECT_EQ(made(config::ReportedAddresses(), &restored).compiled.addresses, restored.compiled.addresses);
}

TEST_F(Files, TheServedRevisionShowsWhatTheEnvironmentLacksInAnyOrder) {
  const std::string path = write("all.yaml", kGood);
  const auto without = [&](compile::UnusablePlaces places) {
    return readConfiguration({path}, {}, nullptr, std::move(places)).servedDigest;
  };
  const compile::UnusablePlace one{"192.0.2.1", 80, "in use"};
  const compile::UnusablePlace two{"192.0.2.2", 80, "no such address"};
  EXPECT_NE(without({one}), without({}));
  EXPECT_NE(without({one}), without({two}));
  EXPECT_EQ(without({one, two}), without({two, one}));
}

TEST_F(Files, TheServedRevisionShowsVersionsThatReplaceRefusedObjects) {
  const CompiledConfiguration good = read({write("all.yaml", kGood)});
  EXPECT_EQ(good.servedRevision, good.revision);
  const std::string misspelt = with("gatewayClassName: sluice", "gatewayClassNam: sluice");
  const CompiledConfiguration kept = read({write("all.yaml", misspelt)}, &good);
  const CompiledConfiguration alone = read({write("all.yaml", misspelt)});
  EXPECT_EQ(kept.digest, alone.digest) << "the same is written";
  EXPECT_NE(kept.servedDigest, alone.servedDigest) << "but not the same is served";
  EXPECT_EQ(kept.servedDigest, good.servedDigest) << "as nothing else has changed";
  EXPECT_EQ(alone.servedRevision, alone.revision);
  const CompiledConfiguration again = read({write("all.yaml", misspelt)}, &kept);
  EXPECT_EQ(again.servedDigest, kept.servedDigest);
  ASSERT_EQ(again.kept.size(), 1U);
  EXPECT_EQ(again.kept[0].text->text.reveal(), kGood);
  EXPECT_TRUE(read({write("all.yaml", kGood)}, &again).kept.empty());
}

TEST_F(Files, AnInvalidYamlTextRejectsTheWholeSet) {
  const CompiledConfiguration configuration = read({write("a.yaml", kGood), write("b.yaml", "a: [1\nb: }")});
  EXPECT_FALSE(configuration.readable);
  EXPECT_FALSE(configuration.usable());
  EXPECT_TRUE(contains(reportText(configuration), "; nothing can be served\n"));
}

TEST_F(Files, AMissingPathIsAProblem) {
  const CompiledConfiguration configuration = read({folder_ + "/nowhere.yaml"});
  EXPECT_FALSE(configuration.usable());
  EXPECT_TRUE(contains(reportText(configuration), "nowhere.yaml"));
}

TEST_F(Files, ASetWithoutOurGatewayClassCannotBeServed) {
  const CompiledConfiguration configuration =
      read({write("all.yaml", with("sluice.dev/egress-gateway", "example.com/other"))});
  EXPECT_TRUE(configuration.readable);
  EXPECT_FALSE(configuration.usable());
  EXPECT_TRUE(contains(
      reportText(configuration),
      "error: there is no GatewayClass with controllerName sluice.dev/egress-gateway: sluice has example.com/other\n"));
}

// The GatewayClass is the cluster's, and seldom among the files of those who write a Gateway.
TEST_F(Files, AGatewayIsJudgedAlthoughItsClassIsNotAmongThem) {
  const std::string whole(kGood);
  const std::string withoutClass = whole.substr(whole.find("---\n"));
  const CompiledConfiguration configuration = readConfiguration({write("all.yaml", withoutClass)}, {});
  EXPECT_TRUE(configuration.flawless());
  const std::string report = reportText(configuration);
  EXPECT_TRUE(contains(report,
                       "all.yaml:2:1: warning: Gateway demo/egress: spec.gatewayClassName: GatewayClass sluice "
                       "is not in these files: it is taken for one with controllerName "
                       "sluice.dev/egress-gateway and without settings\n"))
      << report;
  const CompiledConfiguration complete = readConfiguration({write("all.yaml", kGood)}, {});
  EXPECT_EQ(complete.compiled.snapshot->binds.size(), configuration.compiled.snapshot->binds.size());
  const std::string foreign =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: other}\n"
      "spec: {controllerName: example.com/other}\n";
  EXPECT_TRUE(readConfiguration({write("all.yaml", foreign + withoutClass)}, {}).flawless())
      << "another program's class is another one";
}

// A revision has 48 bits, so two sets with the same one can be made in minutes.
TEST_F(Files, SetsAreComparedByMoreThanTheirRevision) {
  const CompiledConfiguration served = read({write("a.yaml", kGood)});
  CompiledConfiguration other = read({write("b.yaml", with("name: origin, port: 8080", "name: origin, port: 8081"))});
  EXPECT_FALSE(other.sameAs(served));
  other.revision = served.revision;
  EXPECT_FALSE(other.sameAs(served));
  EXPECT_TRUE(read({write("a.yaml", kGood)}).sameAs(served));
}

}  // namespace
}  // namespace sluice::control

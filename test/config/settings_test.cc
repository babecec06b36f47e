#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "config/load/load.h"
#include "config/read/gateways/settings_reader.h"
#include "test/config/file_text.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct SettingsReading {
  std::optional<base::Settings> settings;
  std::vector<std::string> problems;
};

SettingsReading readSettingsBlock(const std::string& text) {
  Problems problems;
  ConfigMap::DataEntry entry;
  entry.value = text;
  entry.position.line = 10;
  entry.blockColumn = 5;
  SettingsReading reading;
  reading.settings = readSettings(entry, "ConfigMap a/b", problems);
  reading.problems = rendered(problems);
  return reading;
}

TEST(Settings, AreDocumentedWithTheirDefaults) {
  const std::string page = fileText(SLUICE_SOURCE_DIR "/config/reference/settings.md");
  const std::string fence = "```yaml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const std::string block = "\n" + page.substr(begin, page.find("```", begin) - begin);
  const SettingsReading reading = readSettingsBlock(block);
  EXPECT_THAT(reading.problems, IsEmpty());
  ASSERT_TRUE(reading.settings);
  EXPECT_EQ(*reading.settings, base::Settings());

  // Finds every key that the reader reads, as in {"key", settings.key ...} and read("key", ...).
  const std::string reader = fileText(SLUICE_SOURCE_DIR "/config/read/gateways/settings_reader.cc");
  const std::regex pattern(R"re(\{"(\w+)", settings\.|\.(?:map|has|read)\((?:required\()?"(\w+)")re");
  int keys = 0;
  for (auto match = std::sregex_iterator(reader.begin(), reader.end(), pattern); match != std::sregex_iterator();
       ++match) {
    const std::string key = (*match)[1].str() + (*match)[2].str();
    ++keys;
    EXPECT_TRUE(std::regex_search(block, std::regex("[ {\\n]" + key + ":"))) << key << " is missing";
  }
  EXPECT_GT(keys, 45);
}

TEST(Settings, AreDocumentedInTheirSection) {
  const std::string page = fileText(SLUICE_SOURCE_DIR "/config/reference/settings.md");
  const std::string reader = fileText(SLUICE_SOURCE_DIR "/config/read/gateways/settings_reader.cc");
  const std::pair<std::string, std::string> sections[] = {
      {"dns", "void readDns("}, {"timeouts", "void readTimeouts("}, {"limits", "void readLimits("}};
  for (const auto& [name, function] : sections) {
    const std::size_t begin = page.find("\n" + name + ":\n");
    const std::size_t end = std::min(page.find("\n```", begin), page.find(":\n", begin + name.size() + 3));
    const std::string section = page.substr(begin, end - begin);
    const std::size_t body = reader.find(function);
    const std::string keys = reader.substr(body, reader.find("\n}\n", body) - body);
    const std::regex pattern(R"re(\{"(\w+)", settings\.|reader\.read\("(\w+)")re");
    int count = 0;
    for (auto match = std::sregex_iterator(keys.begin(), keys.end(), pattern); match != std::sregex_iterator();
         ++match) {
      const std::string key = (*match)[1].str() + (*match)[2].str();
      EXPECT_NE(section.find("\n  " + key + ": "), std::string::npos) << name << "." << key << " is missing";
      ++count;
    }
    EXPECT_GT(count, 7) << name;
  }
}

TEST(Settings, HaveDefaults) {
  const SettingsReading reading = readSettingsBlock("");
  ASSERT_TRUE(reading.settings);
  EXPECT_EQ(reading.settings->workers, 0u);
  EXPECT_EQ(reading.settings->drainTimeout, seconds(25));
  EXPECT_EQ(reading.settings->limits.headerBytes, 65536u);
  EXPECT_TRUE(readSettingsBlock("# nothing\n").settings);
  EXPECT_TRUE(readSettingsBlock("dns:\nlimits: {}\n").settings);
}

TEST(Settings, ReadHowSlashesAreTreated) {
  const auto read = [](const std::string& paths) {
    const SettingsReading reading = readSettingsBlock("paths: " + paths + "\n");
    EXPECT_THAT(reading.problems, IsEmpty());
    return reading.settings->paths;
  };
  EXPECT_EQ(read("{}"), (base::PathSettings{base::EncodedSlash::kAuto, base::MergeSlashes::kAuto}));
  EXPECT_EQ(read("{encodedSlash: Decode, mergeSlashes: false}"),
            (base::PathSettings{base::EncodedSlash::kDecode, base::MergeSlashes::kFalse}));
  EXPECT_EQ(read("{encodedSlash: Keep, mergeSlashes: true}"),
            (base::PathSettings{base::EncodedSlash::kKeep, base::MergeSlashes::kTrue}));
  EXPECT_EQ(read("{encodedSlash: Reject, mergeSlashes: Auto}"),
            (base::PathSettings{base::EncodedSlash::kReject, base::MergeSlashes::kAuto}));
  EXPECT_FALSE(readSettingsBlock("paths: {encodedSlash: keep}\n").settings);
  EXPECT_FALSE(readSettingsBlock("paths: {mergeSlashes: 1}\n").settings);
}

TEST(Settings, ReadEveryKey) {
  const SettingsReading reading = readSettingsBlock(R"(
workers: 4
drainTimeout: 5s
connectionAuth: Refuse
forwardedHeaders: Append
accessLog: {path: off}
sessionPersistence: {secretRef: {namespace: c, name: d, key: new, previousKey: old}}
processorCatalogs: [{namespace: a, name: b}]
egressPolicies: [{namespace: e, name: providers}, {namespace: e, name: blocked}]
revisions: {keep: 3, failures: 4, keyRef: {namespace: n, name: r, key: k}}
dns:
  servers: [1.1.1.1, "[2606::1]:53"]
  hosts: {Origin.Test.: [127.0.0.1, "::1"]}
  timeout: 1s
  attempts: 2
  minTtl: 0s
  maxTtl: 1m
  negativeTtl: 0s
  staleTtl: 2m
  maxAddresses: 4
  ipv6: true
addressGuard: {allow: [10.0.0.0/8]}
timeouts: {requestHeader: 1s, bodyIdle: 2s, clientIdle: 3s, tlsHandshake: 4s, connect: 5s, streamIdle: 6s, request: 7s,
  expectContinue: 13s, upstreamIdle: 8s, upstreamPing: 0s, processor: 9ms, responseIdle: 10s, adminAnswer: 11s, drain: 12s}
clientHalfClose: Allow
provisioning: {namespaces: [a, b], trustedNamespaces: [], allowImage: true, allowServiceType: true, allowScheduling: true,
  allowServiceAccountAnnotations: true}
)");
  ASSERT_THAT(reading.problems, IsEmpty());
  const base::Settings& settings = *reading.settings;
  EXPECT_EQ(settings.workers, 4u);
  EXPECT_EQ(settings.connectionAuth, base::ConnectionAuth::kRefuse);
  EXPECT_EQ(settings.forwarded, (base::ForwardedSettings{base::ForwardedHeaders::kAppend, 0}));
  EXPECT_EQ(settings.accessLogPath, "off");
  EXPECT_EQ(settings.sessionKey, (base::SessionKeyRef{"c", "d", "new", "old"}));
  EXPECT_EQ(settings.egressPolicies, (std::vector<base::NamespacedName>{{"e", "providers"}, {"e", "blocked"}}));
  EXPECT_TRUE(settings.extensionManagers.empty());
  EXPECT_EQ(settings.revisions, (base::RevisionSettings{3, 4, base::RevisionKeyRef{"n", "r", "k"}}));
  EXPECT_EQ(settings.dns.servers.size(), 2u);
  EXPECT_THAT(settings.dns.hosts.at("origin.test"), ElementsAre("127.0.0.1", "::1"));
  EXPECT_TRUE(settings.dns.ipv6);
  EXPECT_THAT(settings.addressGuardAllow, ElementsAre("10.0.0.0/8"));
  EXPECT_EQ(settings.timeouts.request, seconds(7));
  EXPECT_EQ(settings.timeouts.expectContinue, seconds(13));
  EXPECT_EQ(settings.timeouts.processor, std::chrono::milliseconds(9));
  EXPECT_EQ(settings.timeouts.responseIdle, seconds(10));
  EXPECT_EQ(settings.timeouts.adminAnswer, seconds(11));
  EXPECT_EQ(settings.timeouts.drain, seconds(12));
  EXPECT_EQ(settings.timeouts.upstreamPing, seconds(0));
  EXPECT_EQ(settings.clientHalfClose, base::ClientHalfClose::kAllow);
  const base::ProvisioningSettings& provisioning = settings.provisioning;
  EXPECT_THAT(provisioning.namespaces, ElementsAre("a", "b"));
  ASSERT_TRUE(provisioning.trustedNamespaces);
  EXPECT_THAT(*provisioning.trustedNamespaces, IsEmpty());
  EXPECT_TRUE(provisioning.allowImage);
  EXPECT_TRUE(provisioning.allowServiceType);
  EXPECT_TRUE(provisioning.allowScheduling);
  EXPECT_TRUE(provisioning.allowServiceAccountAnnotations);
}

TEST(Settings, TellClientsNoNamesUnlessTheySaySo) {
  EXPECT_EQ(base::Settings().errorDetail, base::ErrorDetail::kCodes);
  EXPECT_EQ(readSettingsBlock("errorDetail: Codes\n").settings->errorDetail, base::ErrorDetail::kCodes);
  EXPECT_EQ(readSettingsBlock("errorDetail: Names\n").settings->errorDetail, base::ErrorDetail::kNames);
  EXPECT_FALSE(readSettingsBlock("errorDetail: All\n").settings);
}

TEST(Settings, BoundTunnels) {
  const auto reading = readSettingsBlock(
      "timeouts: {tunnelIdle: 12s, tunnel: 13s, tunnelSniff: 14s}\nlimits: {tunnels: 15, tunnelsPerAddress: 16}");
  ASSERT_THAT(reading.problems, IsEmpty());
  const base::Settings& settings = *reading.settings;
  EXPECT_EQ(settings.timeouts.tunnelIdle, seconds(12));
  EXPECT_EQ(settings.timeouts.tunnel, seconds(13));
  EXPECT_EQ(settings.timeouts.tunnelSniff, seconds(14));
  EXPECT_EQ(settings.limits.tunnels, 15U);
  EXPECT_EQ(settings.limits.tunnelsPerAddress, 16U);
}

TEST(Settings, RequireTheFullNamesOfEgressPolicies) {
  EXPECT_TRUE(readSettingsBlock("").settings->egressPolicies.empty());
  EXPECT_THAT(readSettingsBlock("egressPolicies: [{namespace: a, name: b}, {name: c}]").problems,
              ElementsAre(EndsWith("egressPolicies[1].namespace: is required")));
  EXPECT_THAT(readSettingsBlock("egressPolicies: [{namespace: a}]").problems,
              ElementsAre(EndsWith("egressPolicies[0].name: is required")));
  EXPECT_THAT(readSettingsBlock("egressPolicies: [{namespace: a, name: b, kind: EgressPolicy}]").problems,
              ElementsAre(HasSubstr("egressPolicies[0].kind: unknown field")));
  EXPECT_THAT(readSettingsBlock("egressPolicies: {namespace: a, name: b}").problems,
              ElementsAre(HasSubstr("egressPolicies: must be a list")));
}

TEST(Settings, TellADelayOfZeroFromNone) {
  EXPECT_EQ(readSettingsBlock("").settings->drainDelay, std::nullopt);
  EXPECT_EQ(readSettingsBlock("drainDelay: 0s\n").settings->drainDelay, seconds(0));
  EXPECT_EQ(readSettingsBlock("drainDelay: 3s\n").settings->drainDelay, seconds(3));
}

TEST(Settings, SelectNamespacesByNamesOrByLabels) {
  EXPECT_EQ(readSettingsBlock("").settings->provisioning, base::ProvisioningSettings{});
  const SettingsReading byLabels = readSettingsBlock("provisioning: {namespaces: {matchLabels: {team: web}}}");
  EXPECT_THAT(byLabels.problems, IsEmpty());
  const base::ProvisioningSettings& provisioning = byLabels.settings->provisioning;
  ASSERT_TRUE(provisioning.namespaceSelector);
  EXPECT_TRUE(provisioning.namespaceSelector->matches({{"team", "web"}}));
  EXPECT_FALSE(provisioning.namespaceSelector->matches({{"team", "data"}}));
  EXPECT_THAT(readSettingsBlock("provisioning: {namespaces: {team: web}}").problems,
              ElementsAre(HasSubstr("provisioning.namespaces.team: unknown field")));
  EXPECT_THAT(readSettingsBlock("provisioning: {namespaces: [A]}").problems,
              ElementsAre(HasSubstr("provisioning.namespaces[0]")));
  EXPECT_THAT(readSettingsBlock("provisioning: {allowImage: 1}").problems,
              ElementsAre(HasSubstr("provisioning.allowImage")));
}

TEST(Settings, ReadEveryLimit) {
  const SettingsReading reading = readSettingsBlock(R"(
limits: {requestLineBytes: 1Ki, headerBytes: 2Ki, headerFields: 3, responseFields: 30, headerMemory: 7Ki, headerMemoryTotal: 8Ki,
  informationalResponses: 4, chunkExtensionBytes: 5,
  concurrentStreams: 6, streamWindow: 64Ki, connectionWindow: 128Ki, resetsPerMinute: 9, emptyFrames: 10,
  queuedControlFrames: 11, controlFramesPerMinute: 26, connections: 12, connectionsPerAddress: 24, handshakesPerAddress: 25, connectionMemory: 32Ki,
  connectionMemoryTotal: 3Mi, responseRate: 0, exchangeBuffer: 32Ki, replayBuffer: 0, processorBuffer: 1Mi,
  processorBufferTotal: 2Mi, processorContext: 27, luaScriptBytes: 29, stepWork: 31, decompressedBody: 3Mi, decompressionRatio: 18,
  backendConnections: 19, backendPending: 20,
  backendRequests: 21, adminConnections: 22, matches: 23, passwordChecks: 28, drainBytes: 30, configBytes: 31Ki, references: 32,
  probesPerSecond: 33}
)");
  ASSERT_THAT(reading.problems, IsEmpty());
  const base::LimitSettings& limits = reading.settings->limits;
  EXPECT_EQ(limits.requestLineBytes, 1024u);
  EXPECT_EQ(limits.responseFields, 30u);
  EXPECT_EQ(limits.headerMemory, 7u * 1024);
  EXPECT_EQ(limits.headerMemoryTotal, 8u * 1024);
  EXPECT_EQ(limits.replayBuffer, 0u);
  EXPECT_EQ(limits.backendRequests, 21u);
  EXPECT_EQ(limits.connectionMemory, 32u * 1024);
  EXPECT_EQ(limits.connectionMemoryTotal, 3u * 1024 * 1024);
  EXPECT_EQ(limits.responseRate, 0u);
  EXPECT_EQ(limits.adminConnections, 22u);
  EXPECT_EQ(limits.matches, 23u);
  EXPECT_EQ(limits.controlFramesPerMinute, 26u);
  EXPECT_EQ(limits.connectionsPerAddress, 24u);
  EXPECT_EQ(limits.handshakesPerAddress, 25u);
  EXPECT_EQ(limits.processorContext, 27u);
  EXPECT_EQ(limits.luaScriptBytes, 29u);
  EXPECT_EQ(limits.stepWork, 31u);
  EXPECT_EQ(limits.passwordChecks, 28u);
  EXPECT_EQ(limits.drainBytes, 30u);
  EXPECT_EQ(limits.configBytes, 31u * 1024);
  EXPECT_EQ(limits.references, 32u);
  EXPECT_EQ(limits.probesPerSecond, 33u);
}

TEST(Settings, ReadTheRetryBudget) {
  EXPECT_EQ(readSettingsBlock("").settings->retryBudget, base::RetryBudgetSettings{});
  EXPECT_EQ(readSettingsBlock("retry: {budget: {percent: 50, minPerSecond: 0}}").settings->retryBudget,
            (base::RetryBudgetSettings{50, 0}));
  EXPECT_THAT(readSettingsBlock("retry: {budget: {percent: 101}}").problems,
              ElementsAre(HasSubstr("retry.budget.percent")));
  EXPECT_THAT(readSettingsBlock("retry: {budget: {minPerSecond: 1000001}}").problems,
              ElementsAre(HasSubstr("retry.budget.minPerSecond")));
  EXPECT_THAT(readSettingsBlock("retry: {attempts: 1}").problems,
              ElementsAre(HasSubstr("retry.attempts: unknown field")));
}

TEST(Settings, ReadTheNumberOfTrustedProxies) {
  EXPECT_EQ(readSettingsBlock("").settings->forwarded, base::ForwardedSettings{});
  EXPECT_EQ(readSettingsBlock("forwardedHeaders: Overwrite").settings->forwarded,
            (base::ForwardedSettings{base::ForwardedHeaders::kOverwrite, 0}));
  EXPECT_EQ(readSettingsBlock("forwardedHeaders: {mode: Append, trustedHops: 2}").settings->forwarded,
            (base::ForwardedSettings{base::ForwardedHeaders::kAppend, 2}));
  EXPECT_EQ(readSettingsBlock("forwardedHeaders: {mode: Off, trustedHops: 100}").settings->forwarded.trustedHops, 100u);
  EXPECT_THAT(readSettingsBlock("forwardedHeaders: {trustedHops: 101}").problems,
              ElementsAre(HasSubstr("forwardedHeaders.trustedHops")));
  EXPECT_THAT(readSettingsBlock("forwardedHeaders: {mode: All}").problems,
              ElementsAre(HasSubstr("forwardedHeaders.mode: must be Off, Append or Overwrite")));
  EXPECT_THAT(readSettingsBlock("forwardedHeaders: {hops: 1}").problems,
              ElementsAre(HasSubstr("forwardedHeaders.hops: unknown field")));
}

TEST(Settings, RequireTheFullNameOfTheSessionKeysSecret) {
  EXPECT_FALSE(readSettingsBlock("").settings->sessionKey);
  EXPECT_FALSE(readSettingsBlock("sessionPersistence: {}").settings->sessionKey);
  EXPECT_EQ(readSettingsBlock("sessionPersistence: {secretRef: {namespace: c, name: d}}").settings->sessionKey,
            (base::SessionKeyRef{"c", "d", "key", ""}));
  EXPECT_THAT(readSettingsBlock("sessionPersistence: {secretRef: {name: d}}").problems,
              ElementsAre(EndsWith("sessionPersistence.secretRef.namespace: is required")));
  EXPECT_THAT(readSettingsBlock("sessionPersistence: {secretRef: {namespace: c}}").problems,
              ElementsAre(EndsWith("sessionPersistence.secretRef.name: is required")));
  EXPECT_THAT(readSettingsBlock("sessionPersistence: {secretRef: {namespace: c, name: d, keys: x}}").problems,
              ElementsAre(HasSubstr("sessionPersistence.secretRef.keys: unknown field")));
  EXPECT_THAT(readSettingsBlock("sessionPersistence: {secret: x}").problems,
              ElementsAre(HasSubstr("sessionPersistence.secret: unknown")));
}

TEST(Settings, ReportProblemsWithTheLineInTheConfigMapsFile) {
  EXPECT_THAT(
      readSettingsBlock("workers: 1\ntimeouts:\n  conect: 1s\n").problems,
      ElementsAre("13:7: error: ConfigMap a/b: settings.yaml: timeouts.conect: unknown field: did you mean connect?"));
  const Configuration configuration = loadText(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\nspec:\n"
      "  controllerName: sluice.dev/egress-gateway\n  parametersRef: {group: '', kind: ConfigMap, namespace: a, name: "
      "b}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: b}\ndata:\n  settings.yaml: |\n    workers: 1\n "
      "   timeouts:\n"
      "      conect: 1s\n",
      "s.yaml");
  EXPECT_THAT(
      rendered(configuration.problems),
      ElementsAre(
          "s.yaml:15:7: error: ConfigMap a/b: settings.yaml: timeouts.conect: unknown field: did you mean connect?"));
  EXPECT_EQ(configuration.model.settingsFault, "settings.yaml: timeouts.conect: unknown field: did you mean connect?");
  EXPECT_EQ(configuration.model.settings.workers, 0u);
}

TEST(Settings, CheckTheirValues) {
  EXPECT_THAT(readSettingsBlock("timeouts: {connect: 0s}").problems,
              ElementsAre(EndsWith("connect: must be longer than 0s")));
  EXPECT_THAT(readSettingsBlock("timeouts: {request: 0s}").problems, IsEmpty());
  EXPECT_THAT(readSettingsBlock("timeouts: {connect: 5}").problems, ElementsAre(HasSubstr("must be a duration")));
  EXPECT_THAT(readSettingsBlock("limits: {headerBytes: 64kb}").problems,
              ElementsAre(HasSubstr("must be a quantity like 100, 64Ki")));
  EXPECT_THAT(readSettingsBlock("limits: {headerBytes: [1]}").problems, ElementsAre(HasSubstr("must be a quantity")));
  EXPECT_THAT(readSettingsBlock("dns: {servers: [dns.test]}").problems,
              ElementsAre(HasSubstr("must be an IP address, with or without a port")));
  EXPECT_THAT(readSettingsBlock("dns: {hosts: {a.b: [c.d]}}").problems,
              ElementsAre(HasSubstr("must be an IP address")));
  EXPECT_THAT(readSettingsBlock("dns: {hosts: {'a b': [1.1.1.1]}}").problems,
              ElementsAre(HasSubstr("must be a domain name")));
  EXPECT_THAT(readSettingsBlock("dns: {minTtl: 2s, maxTtl: 1s}").problems,
              ElementsAre(EndsWith("maxTtl: must not be shorter than minTtl")));
  EXPECT_THAT(readSettingsBlock("addressGuard: {allow: [10.0.0.0]}").problems,
              ElementsAre(HasSubstr("must be a CIDR")));
  EXPECT_THAT(readSettingsBlock("forwardedHeaders: on").problems,
              ElementsAre(EndsWith("must be Off, Append or Overwrite, but is \"on\"")));
  EXPECT_THAT(readSettingsBlock("- a\n").problems,
              ElementsAre(EndsWith("settings.yaml: must be a map, but is a list")));
  EXPECT_THAT(readSettingsBlock("a: [\n").problems, ElementsAre(HasSubstr("settings.yaml: not YAML")));
  EXPECT_THAT(readSettingsBlock("workers: 1\n---\nworkers: 2\n").problems,
              ElementsAre(HasSubstr("must be one document")));
}

struct SettingBounds {
  const char* key;
  const char* inside;
  const char* outside;
};

TEST(Settings, HaveLowerAndUpperBounds) {
  const SettingBounds bounds[] = {{"requestLineBytes", "64", "63"},
                                  {"headerFields", "1", "0"},
                                  {"responseFields", "1", "0"},
                                  {"concurrentStreams", "1", "0"},
                                  {"streamWindow", "2147483647", "2147483648"},
                                  {"streamWindow", "1024", "1023"},
                                  {"connectionWindow", "65535", "65534"},
                                  {"exchangeBuffer", "16Ki", "16383"},
                                  {"connections", "1", "0"},
                                  {"decompressionRatio", "1", "0"},
                                  {"headerBytes", "1024Gi", "1025Gi"},
                                  {"connectionMemory", "16Ki", "16383"},
                                  {"connectionMemoryTotal", "16Ki", "16383"},
                                  {"processorContext", "0", "2147483648"},
                                  {"passwordChecks", "1", "0"},
                                  {"passwordChecks", "10000", "10001"},
                                  {"probesPerSecond", "1", "0"},
                                  {"luaScriptBytes", "1", "0"},
                                  {"stepWork", "1", "0"},
                                  {"luaScriptBytes", "1Gi", "2147483648"},
                                  {"drainBytes", "2147483647", "2147483648"},
                                  {"configBytes", "1Ki", "1023"},
                                  {"references", "1", "0"}};
  for (const SettingBounds& bound : bounds) {
    EXPECT_TRUE(readSettingsBlock("limits: {" + std::string(bound.key) + ": " + bound.inside + "}").settings)
        << bound.key;
    EXPECT_FALSE(readSettingsBlock("limits: {" + std::string(bound.key) + ": " + bound.outside + "}").settings)
        << bound.key;
  }
  EXPECT_TRUE(readSettingsBlock("workers: 1024").settings);
  EXPECT_FALSE(readSettingsBlock("workers: 1025").settings);
}

TEST(Settings, AcceptAtMostFiveThousandHosts) {
  const auto hosts = [](int count) {
    std::string text = "dns:\n  hosts:\n";
    for (int i = 0; i < count; ++i) text += "    h" + std::to_string(i) + ".test: [127.0.0.1]\n";
    return text;
  };
  EXPECT_TRUE(readSettingsBlock(hosts(5000)).settings);
  EXPECT_THAT(readSettingsBlock(hosts(5001)).problems, ElementsAre(EndsWith("dns.hosts: has more than 5000 names")));
}

std::string gatewayClass(const std::string& name, const std::string& created, const std::string& ref) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: " + name +
         (created.empty() ? "" : ", creationTimestamp: '" + created + "'") +
         "}\nspec: {controllerName: sluice.dev/egress-gateway, parametersRef: " + ref + "}\n---\n";
}

std::string settingsMap(const std::string& name, const std::string& text) {
  return object("v1", "ConfigMap", name, "data: {settings.yaml: '" + text + "'}\n") + "---\n";
}

TEST(Settings, ComeFromOurOldestGatewayClass) {
  const auto ref = [](const std::string& name) {
    return "{group: '', kind: ConfigMap, namespace: default, name: " + name + "}";
  };
  const Configuration configuration = loadText(gatewayClass("a", "2024-02-01T00:00:00Z", ref("x")) +
                                               gatewayClass("z", "2024-01-01T00:00:00Z", ref("y")) +
                                               settingsMap("x", "workers: 1") + settingsMap("y", "workers: 2"));
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  EXPECT_EQ(configuration.model.gatewayClassName, "z");
  EXPECT_EQ(configuration.model.settings.workers, 2u);
}

TEST(Settings, ReportWhyTheyCannotBeFound) {
  const auto fault = [](const std::string& ref) { return loadText(gatewayClass("a", "", ref)).model.settingsFault; };
  EXPECT_EQ(fault("{group: '', kind: ConfigMap, namespace: n, name: x}"), "ConfigMap n/x does not exist");
  EXPECT_EQ(fault("{group: '', kind: ConfigMap, name: x}"), "must name the namespace of the ConfigMap");
  EXPECT_EQ(fault("{group: '', kind: Secret, namespace: n, name: x}"), "must refer to a ConfigMap of the core group");
  const Configuration configuration =
      loadText(gatewayClass("a", "", "{group: '', kind: ConfigMap, namespace: default, name: x}") +
               object("v1", "ConfigMap", "x", "data: {}\n"));
  EXPECT_EQ(configuration.model.settingsFault, "ConfigMap default/x has no key settings.yaml");
  EXPECT_TRUE(hasErrors(configuration.problems));
}

}  // namespace
}  // namespace sluice::config

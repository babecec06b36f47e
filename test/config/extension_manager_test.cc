#include "config/read/processors/extension_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/read/gateways/settings_reader.h"
#include "test/config/file_text.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kExtensionService = "service: {fqdn: {hostname: Ext.Test, port: 5005}}";

struct ManagerReading {
  std::optional<base::ExtensionManager> manager;  // the first one
  std::vector<base::ExtensionManager> managers;
  std::vector<std::string> errors;
};

ManagerReading readSettingsText(const std::string& text) {
  ConfigMap::DataEntry entry;
  entry.value = text;
  Problems problems;
  const std::optional<base::Settings> settings = readSettings(entry, "ConfigMap a/b", problems);
  ManagerReading reading;
  if (settings && !settings->extensionManagers.empty()) reading.manager = settings->extensionManagers.front();
  if (settings) reading.managers = settings->extensionManagers;
  for (const Problem& problem : problems) {
    if (problem.severity == Severity::kError) reading.errors.push_back(render(problem));
  }
  return reading;
}
ManagerReading readManager(const std::string& block) { return readSettingsText("extensionManager: {" + block + "}\n"); }
ManagerReading readHooks(const std::string& hooks, const std::string& rest = kExtensionService) {
  return readManager("hooks: {xdsTranslator: {post: [" + hooks + "]}}, " + rest);
}
std::vector<ScopedUse> usesOfHooks(const std::string& hooks, const std::string& rest = kExtensionService) {
  const ManagerReading reading = readHooks(hooks, rest);
  EXPECT_THAT(reading.errors, IsEmpty());
  return usesOf(reading.managers);
}

TEST(ExtensionManager, IsAbsentUnlessConfigured) {
  EXPECT_FALSE(readSettingsText("workers: 1\n").manager);
  EXPECT_FALSE(readSettingsText("extensionManager: {}\n").manager);
  EXPECT_FALSE(readSettingsText("extensionManager:\n").manager);
  EXPECT_THAT(readSettingsText("extensionManager: {}\n").errors, IsEmpty());
  EXPECT_THAT(readSettingsText("extensionManager: []\n").errors, Contains(HasSubstr("must be a map, but is a list")));
}

TEST(ExtensionManager, LoadsTheProposalsExampleUnchanged) {
  const ManagerReading reading = readSettingsText(R"(
extensionManager:
  hooks:
    # The type of hooks that should be invoked
    xdsTranslator:
      post:
      - type: HTTPListener
        failOpen: false # This is the default, if the failOpen attribute is not specified
  service:
    # The service that is hosting the extension server
    fqdn:
      hostname: extension-server.envoy-gateway-system.svc.cluster.local
      port: 5005
)");
  EXPECT_THAT(reading.errors, IsEmpty());
  ASSERT_TRUE(reading.manager);
  EXPECT_THAT(reading.manager->hooks, ElementsAre(base::ExtensionHook{base::HookScope::kListener, false}));
  EXPECT_EQ(reading.manager->hostname, "extension-server.envoy-gateway-system.svc.cluster.local");
  EXPECT_EQ(reading.manager->port, 5005);
  EXPECT_EQ(reading.manager->retry, base::ExtensionRetry());
  EXPECT_EQ(reading.manager->maxMessageSize, 4000000u);
}

TEST(ExtensionManager, IsReadAsDocumented) {
  const std::string page = fileText(SLUICE_SOURCE_DIR "/config/reference/settings.md");
  const std::size_t begin = page.find("```yaml\n", page.find("## extensionManager")) + 8;
  const ManagerReading reading = readSettingsText(page.substr(begin, page.find("```", begin) - begin));
  EXPECT_THAT(reading.errors, IsEmpty());
  ASSERT_TRUE(reading.manager);
  EXPECT_EQ(reading.manager->retry, base::ExtensionRetry()) << "the defaults";
  EXPECT_EQ(reading.manager->maxMessageSize, base::ExtensionManager().maxMessageSize);
}

TEST(ExtensionManager, MakesOneUseForEachHookInTheOrderOfScopes) {
  const std::vector<ScopedUse> uses =
      usesOfHooks("{type: Translation}, {type: HTTPListener, failOpen: true}, {type: Route}, {type: VirtualHost}");
  ASSERT_EQ(uses.size(), 4u);
  const std::pair<base::HookScope, const char*> expected[] = {
      {base::HookScope::kRoute, "extensionManager.Route"},
      {base::HookScope::kHostname, "extensionManager.VirtualHost"},
      {base::HookScope::kListener, "extensionManager.HTTPListener"},
      {base::HookScope::kProcess, "extensionManager.Translation"}};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    EXPECT_EQ(uses[i].scope, expected[i].first);
    EXPECT_EQ(uses[i].use.name, expected[i].second);
    EXPECT_EQ(uses[i].use.type, processor_type::kExtProc);
    EXPECT_EQ(uses[i].use.failOpen, uses[i].scope == base::HookScope::kListener);
  }
}

TEST(ExtensionManager, PassesItsServerToTheProcessor) {
  const std::vector<ScopedUse> uses =
      usesOfHooks("Route",
                  "maxMessageSize: 1Mi, service: {fqdn: {hostname: Ext.Test, port: 5005}, retry: {maxAttempts: 2, "
                  "initialBackoff: 50ms, maxBackoff: 2s, backoffMultiplier: 1.5, retryableStatusCodes: [INTERNAL, "
                  "UNAVAILABLE]}}");
  ASSERT_EQ(uses.size(), 1u);
  ASSERT_TRUE(uses[0].use.config);
  const Value config = uses[0].use.config->unpacked();
  EXPECT_EQ(config.find("maxMessageSize")->text, "1048576");
  const Value* fqdn = config.find("service")->find("fqdn");
  ASSERT_NE(fqdn, nullptr);
  EXPECT_EQ(fqdn->find("hostname")->text, "ext.test");
  EXPECT_EQ(fqdn->find("port")->text, "5005");
  EXPECT_EQ(fqdn->find("port")->kind, Value::Kind::kNumber);
  const Value* retry = config.find("service")->find("retry");
  ASSERT_NE(retry, nullptr);
  EXPECT_EQ(retry->find("maxAttempts")->text, "2");
  EXPECT_EQ(retry->find("initialBackoff")->text, "50ms");
  EXPECT_EQ(retry->find("maxBackoff")->text, "2s");
  EXPECT_EQ(retry->find("backoffMultiplier")->text, "1.5");
  ASSERT_THAT(retry->find("retryableStatusCodes")->items, SizeIs(2));
  EXPECT_EQ(retry->find("retryableStatusCodes")->items[0].text, "INTERNAL");
}

TEST(ExtensionManager, RunsNarrowHooksBeforeWideOnes) {
  const std::vector<ScopedUse> uses =
      usesOfHooks("{type: Translation}, {type: HTTPListener}, {type: Route}, {type: VirtualHost}");
  ASSERT_EQ(uses.size(), 4u);
  for (std::size_t i = 1; i < uses.size(); ++i) EXPECT_LT(uses[i - 1].use.priority, uses[i].use.priority);
}

TEST(ExtensionManager, TellsTheServerWhichHookAsks) {
  const ManagerReading reading = readSettingsText(
      "extensionManagers: [{name: first, hooks: {xdsTranslator: {post: [Translation]}}, " + kExtensionService + "}]\n");
  const std::vector<ScopedUse> uses = usesOf(reading.managers);
  ASSERT_EQ(uses.size(), 1u);
  const std::optional<Value> context = uses[0].use.config->find("context");
  ASSERT_TRUE(context);
  EXPECT_EQ(context->find("hook")->text, "Translation");
  EXPECT_EQ(context->find("extensionManager")->text, "first");
  EXPECT_EQ(uses[0].use.config->find("service")->find("name")->text, "extensionManagers.first");
}

TEST(ExtensionManager, MayBeSeveralByName) {
  const auto manager = [](const std::string& name, const std::string& hooks) {
    return "{" + name + ", hooks: {xdsTranslator: {post: [" + hooks + "]}}, " + kExtensionService + "}";
  };
  const auto several = [&](const std::string& list) { return readSettingsText("extensionManagers: [" + list + "]\n"); };
  const ManagerReading good =
      several(manager("name: one", "Translation, Route") + ", " + manager("name: two", "Route"));
  EXPECT_THAT(good.errors, IsEmpty());
  std::vector<std::string> names;
  for (const ScopedUse& each : usesOf(good.managers)) names.push_back(each.use.name);
  EXPECT_THAT(names, ElementsAre("extensionManagers.one.Route", "extensionManagers.two.Route",
                                 "extensionManagers.one.Translation"));
  EXPECT_THAT(several(manager("failOpen: true", "Route")).errors, ElementsAre(EndsWith("[0].name: is required")));
  EXPECT_THAT(several(manager("name: A", "Route")).errors, ElementsAre(HasSubstr("[0].name: must be a DNS label")));
  EXPECT_THAT(several(manager("name: one", "Route") + ", " + manager("name: one", "Route")).errors,
              ElementsAre(EndsWith("[1].name: must not be repeated")));
  EXPECT_THAT(readSettingsText("extensionManager: " + manager("failOpen: false", "Route") + "\nextensionManagers: [" +
                               manager("name: one", "Route") + "]\n")
                  .errors,
              ElementsAre(HasSubstr("must not stand beside extensionManager")));
}

TEST(ExtensionManager, NamesItsServerByHostnameOrAddress) {
  const auto server = [](const std::string& service) {
    const std::vector<ScopedUse> uses = usesOfHooks("Route", "service: {" + service + "}");
    return uses.empty() ? Value() : *uses[0].use.config->find("service");
  };
  EXPECT_EQ(server("fqdn: {hostname: ext.svc.cluster.local., port: 1}").find("fqdn")->find("hostname")->text,
            "ext.svc.cluster.local");
  const Value byAddress = server("ip: {address: '0:0::1', port: 5005}");
  EXPECT_EQ(byAddress.find("fqdn"), nullptr);
  ASSERT_NE(byAddress.find("ip"), nullptr);
  EXPECT_EQ(byAddress.find("ip")->find("address")->text, "::1");
  EXPECT_EQ(byAddress.find("ip")->find("port")->text, "5005");
}

TEST(ExtensionManager, PassesTheSecretsOfItsTls) {
  const std::string ca = "certificateRef: {kind: Secret, namespace: a, name: ca}";
  const std::vector<ScopedUse> uses = usesOfHooks("Route", "service: {fqdn: {hostname: a.b, port: 1}, tls: {" + ca +
                                                               ", clientCertificateRef: {namespace: a, name: own}}}");
  ASSERT_EQ(uses.size(), 1u);
  const Value config = uses[0].use.config->unpacked();
  const Value* tls = config.find("service")->find("tls");
  ASSERT_NE(tls, nullptr);
  EXPECT_EQ(tls->find("certificateRef")->find("namespace")->text, "a");
  EXPECT_EQ(tls->find("certificateRef")->find("name")->text, "ca");
  EXPECT_EQ(tls->find("clientCertificateRef")->find("name")->text, "own");
  const auto errors = [](const std::string& members) {
    return readHooks("Route", "service: {fqdn: {hostname: a.b, port: 1}, tls: {" + members + "}}").errors;
  };
  EXPECT_THAT(errors(""), ElementsAre(EndsWith("tls.certificateRef: is required")));
  EXPECT_THAT(errors("certificateRef: {name: ca}"), ElementsAre(EndsWith("namespace: is required")));
  EXPECT_THAT(errors("certificateRef: {kind: ConfigMap, namespace: a, name: ca}"),
              ElementsAre(HasSubstr("kind: must be Secret")));
}

TEST(ExtensionManager, FailsClosedUnlessTheHookOrTheManagerSaysOtherwise) {
  const auto open = [](const std::string& hook, const std::string& manager) {
    return usesOfHooks(hook, kExtensionService + manager).at(0).use.failOpen.value_or(false);
  };
  EXPECT_EQ(open("Route", ""), false);
  EXPECT_EQ(open("{type: Route}", ", failOpen: false"), false);
  EXPECT_EQ(open("Route", ", failOpen: true"), true);
  EXPECT_EQ(open("{type: Route}", ", failureMode: FailOpen"), true);
  EXPECT_EQ(open("{type: Route, failOpen: true}", ", failOpen: false"), true);
  EXPECT_EQ(open("{type: Route, failOpen: false}", ", failOpen: true"), false);
}

TEST(ExtensionManager, ChecksItsHooks) {
  EXPECT_THAT(readHooks("").errors, ElementsAre(HasSubstr("must have at least one hook in post")));
  EXPECT_THAT(readManager("hooks: {}, " + kExtensionService).errors,
              ElementsAre(HasSubstr("must have at least one hook in post")));
  EXPECT_THAT(readManager(kExtensionService).errors, ElementsAre(HasSubstr("extensionManager.hooks: is required")));
  EXPECT_THAT(readHooks("Route, {type: Route}").errors, ElementsAre(EndsWith("post[1].type: must not be repeated")));
  EXPECT_THAT(readHooks("Cluster").errors,
              ElementsAre(HasSubstr("must be Route, VirtualHost, HTTPListener or Translation")));
  EXPECT_THAT(readHooks("{failOpen: true}").errors, ElementsAre(EndsWith("post[0].type: is required")));
  EXPECT_THAT(readHooks("{type: Route, failOpen: 1}").errors,
              ElementsAre(HasSubstr("failOpen: must be true or false")));
  EXPECT_THAT(readHooks("{type: Route, fail: x}").errors, ElementsAre(HasSubstr("fail: unknown field")));
}

TEST(ExtensionManager, ChecksItsService) {
  const auto errors = [](const std::string& service) { return readHooks("Route", service).errors; };
  EXPECT_THAT(errors("failOpen: false"), ElementsAre(EndsWith("service: is required")));
  EXPECT_THAT(errors("service: {}"), ElementsAre(EndsWith("service.fqdn: is required")));
  EXPECT_THAT(errors("service: {fqdn: {}}"),
              ElementsAre(EndsWith("hostname: is required"), EndsWith("port: is required")));
  EXPECT_THAT(errors("service: {fqdn: {hostname: 127.0.0.1, port: 1}}"),
              ElementsAre(HasSubstr("hostname: must be a domain name")));
  EXPECT_THAT(errors("service: {unix: {path: /run/ext}}"),
              ElementsAre(EndsWith("service.unix: is not supported: use fqdn or ip")));
  EXPECT_THAT(errors("service: {fqdn: {hostname: a.b, port: 1}, ip: {address: 10.0.0.1, port: 1}}"),
              ElementsAre(EndsWith("service.ip: must not stand beside fqdn")));
  EXPECT_THAT(errors("service: {ip: {address: a.b, port: 1}}"), ElementsAre(HasSubstr("must be an IP address")));
  EXPECT_THAT(errors(kExtensionService + ", maxMessageSize: 64Mi"), IsEmpty());
  for (const char* wrong : {"1023", "65Mi"}) {
    EXPECT_THAT(errors(kExtensionService + ", maxMessageSize: " + wrong), ElementsAre(HasSubstr("from 1Ki to 64Mi")));
  }
  EXPECT_THAT(errors(kExtensionService + ", maxMessageSize: 0"), ElementsAre(HasSubstr("maxMessageSize")));
}

TEST(ExtensionManager, ChecksItsRetries) {
  const auto errors = [](const std::string& retry) {
    return readHooks("Route", "service: {fqdn: {hostname: a.b, port: 1}, retry: {" + retry + "}}").errors;
  };
  EXPECT_THAT(errors("maxAttempts: 1, backoffMultiplier: 1"), IsEmpty());
  EXPECT_THAT(errors("maxAttempts: 100, backoffMultiplier: 100.0"), IsEmpty());
  EXPECT_THAT(errors("maxAttempts: 0"), ElementsAre(HasSubstr("between 1 and 100")));
  EXPECT_THAT(errors("maxAttempts: 101"), ElementsAre(HasSubstr("between 1 and 100")));
  for (const char* bad : {"0.5", "100.5", "-1", "'2'", "x"}) {
    EXPECT_THAT(errors("backoffMultiplier: " + std::string(bad)), ElementsAre(HasSubstr("a number between 1 and 100")))
        << bad;
  }
  EXPECT_THAT(errors("backoffMultiplier: {numerator: 3, denominator: 2}"), IsEmpty());
  EXPECT_THAT(errors("backoffMultiplier: {numerator: 200}"), IsEmpty()) << "of 100";
  EXPECT_THAT(errors("backoffMultiplier: {numerator: 1, denominator: 2}"), ElementsAre(HasSubstr("between 1 and 100")));
  EXPECT_THAT(errors("initialBackoff: 0s"), ElementsAre(HasSubstr("longer than 0s")));
  EXPECT_THAT(errors("initialBackoff: 1s"), IsEmpty());
  EXPECT_THAT(errors("initialBackoff: 1001ms"), ElementsAre(HasSubstr("must not be shorter than initialBackoff")));
  EXPECT_THAT(errors("RetryableStatusCodes: [UNAVAILABLE]"), IsEmpty());
  EXPECT_THAT(errors("retryableStatusCodes: [OK]"), ElementsAre(HasSubstr("must be a gRPC status")));
}

}  // namespace
}  // namespace sluice::config

// Tests the problems that the time and the machine cause, from the objects to their places in the files.
#include "proxy/control/report/surroundings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "config/load/text_cache.h"
#include "proxy/control/report/configuration_diff.h"
#include "test/support/test_pki.h"

namespace sluice::control {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string settingsAt(const std::string& logPath) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\nspec:\n"
         "  controllerName: sluice.dev/egress-gateway\n"
         "  parametersRef: {group: \"\", kind: ConfigMap, namespace: demo, name: settings}\n"
         "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: settings}\ndata:\n"
         "  settings.yaml: |\n    workers: 1\n    accessLog:\n      path: \"" +
         logPath + "\"\n";
}

std::string indentedPem(const std::string& pem) {
  std::istringstream lines(pem);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return text;
}

std::string tlsSecret(const std::string& name, const sluice::test::CertifiedKey& pair) {
  return "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: " + name +
         "}\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |\n" + indentedPem(pair.certificate) + "  tls.key: |\n" +
         indentedPem(pair.key);
}

std::string authorities(const std::string& name, const std::string& pem) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: " + name + "}\ndata:\n  ca.crt: |\n" +
         indentedPem(pem);
}

CompiledConfiguration readText(const std::string& text) {
  config::TextCache texts;
  ConfigurationCache cache;
  return makeConfiguration(config::readTexts({{"all.yaml", text}}, {}, base::Secret("key"), texts), nullptr, {}, cache);
}

sluice::test::CertifiedKey expired() {
  sluice::test::CertificateSpec spec;
  spec.notBefore = -48h;
  spec.notAfter = -1h;
  return sluice::test::selfSigned(spec);
}

base::WallTime wallNow() { return std::chrono::system_clock::now(); }

TEST(Surroundings, NameTheLineOfALogPathThatCannotBeOpened) {
  const CompiledConfiguration configuration = readText(settingsAt("/proc/no/such/access.log"));
  ASSERT_TRUE(configuration.usable());
  const config::Problems problems = surroundingsOf(configuration, wallNow(), LogPathCheck::kWarning);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(config::render(problems[0]),
            "all.yaml:15:13: warning: ConfigMap demo/settings: settings.yaml: accessLog.path: cannot open "
            "/proc/no/such/access.log for writing: No such file or directory; a gateway that starts on this machine "
            "serves without its access log");
  EXPECT_EQ(surroundingsOf(configuration, wallNow(), LogPathCheck::kError)[0].severity, config::Severity::kError);
  EXPECT_TRUE(surroundingsOf(configuration, wallNow(), LogPathCheck::kNone).empty());
  for (const char* good : {"off", "/dev/stdout", "/dev/null"}) {
    EXPECT_TRUE(surroundingsOf(readText(settingsAt(good)), wallNow(), LogPathCheck::kError).empty()) << good;
  }
}

TEST(Surroundings, MakeNothingUnusable) {
  CompiledConfiguration configuration = readText(settingsAt("/"));
  const std::string digest = configuration.servedDigest;
  addSurroundings(configuration, wallNow(), LogPathCheck::kError);
  EXPECT_TRUE(configuration.usable());
  EXPECT_FALSE(configuration.flawless());
  EXPECT_EQ(configuration.servedDigest, digest);
}

TEST(Surroundings, FindExpiredCertificatesWhereverTheyAreNamed) {
  const sluice::test::CertifiedKey old = expired();
  const CompiledConfiguration configuration = readText(
      settingsAt("off") +
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
      "  gatewayClassName: sluice\n"
      "  tls: {frontend: {default: {validation: {caCertificateRefs: [{group: \"\", kind: ConfigMap, name: ca}]}}}}\n"
      "  listeners:\n"
      "    - {name: web, protocol: HTTPS, port: 8443, tls: {certificateRefs: [{name: pair}]}}\n"
      "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: api}\nspec:\n"
      "  destination: {type: FQDN, fqdn: {hostname: api.example.com, port: 443}}\n"
      "  tls: {mode: Mutual, caBundleRef: {name: ca}, clientCertificateRef: {name: pair}}\n"
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {namespace: demo, name: p}\n"
      "spec:\n  targetRefs: [{group: sluice.dev, kind: Backend, name: api}]\n"
      "  validation: {hostname: api.example.com, caCertificateRefs: [{group: \"\", kind: ConfigMap, name: ca}]}\n" +
      tlsSecret("pair", old) + authorities("ca", old.certificate));
  std::vector<std::string> found;
  for (const config::Problem& each : surroundingsOf(configuration, wallNow(), LogPathCheck::kError)) {
    EXPECT_EQ(each.severity, config::Severity::kError);
    EXPECT_NE(each.position.line, 0U) << each.field;
    found.push_back(each.object + ": " + each.field);
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         "Gateway demo/egress: spec.listeners[0].tls.certificateRefs[0]",
                         "Gateway demo/egress: spec.tls.frontend.default.validation.caCertificateRefs[0]",
                         "Backend demo/api: spec.tls.caBundleRef", "Backend demo/api: spec.tls.clientCertificateRef",
                         "BackendTLSPolicy demo/p: spec.validation.caCertificateRefs[0]"));
}

TEST(Surroundings, LeaveOutSecretsThatNoGrantPermits) {
  const CompiledConfiguration configuration =
      readText(settingsAt("off") +
               "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: other, name: api}\nspec:\n"
               "  destination: {type: FQDN, fqdn: {hostname: api.example.com, port: 443}}\n"
               "  tls: {mode: Mutual, clientCertificateRef: {namespace: demo, name: pair}}\n" +
               tlsSecret("pair", expired()));
  EXPECT_TRUE(configuration.certificates.empty());
}

TEST(Surroundings, AreDifferencesOfTwoConfigurations) {
  const auto problemsOf = [](const char* path) {
    return surroundingsOf(readText(settingsAt(path)), wallNow(), LogPathCheck::kWarning);
  };
  std::vector<ConfigurationChange> changes;
  addProblemChanges(problemsOf("/dev/stdout"), problemsOf("/"), changes);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_THAT(changesOutput(changes).text,
              AllOf(HasSubstr("+ problem ConfigMap demo/settings: settings.yaml: accessLog.path: cannot open / for "
                              "writing: Is a directory"),
                    HasSubstr("1 difference\n")));
  changes.clear();
  addProblemChanges(problemsOf("/"), problemsOf("/"), changes);
  EXPECT_TRUE(changes.empty());
}

}  // namespace
}  // namespace sluice::control

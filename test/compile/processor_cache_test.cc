// Tests that a processor is made once, and made again when one of its inputs has changed.
#include "proxy/compile/processors/processor_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::with;

/// Counts the processors that were made. It is a global because a type is a plain function.
int& made() {
  static int count = 0;
  return count;
}

processing::Made makeCounted(const processing::Use& use) {
  ++made();
  if (use.config.find("awaits") != nullptr) return test::makeNoopProcessor(use);
  if (const content::Value* secret = use.config.find("secret")) {
    auto found = use.secrets.find("vault", secret->text, "");
    if (!found.bytes) return {nullptr, found.refusal};
  }
  return {std::make_shared<const test::NoopProcessor>(), {}};
}

/// A process that reads several configurations one after another.
class CompilingProcess {
 public:
  CompilingProcess() { types_.front().make = makeCounted; }

  /// Returns the number of processors that it made.
  int compile(const std::vector<std::string>& documents) {
    std::string text;
    for (const std::string& document : documents) text += "---\n" + document + "\n";
    models_.push_back(std::make_unique<const config::Model>(
        config::loadTexts({{"config.yaml", text}}, base::Secret(), nullptr).model));
    const SystemTrust trust = []() -> base::Result<std::shared_ptr<const pki::TrustStore>> {
      return base::Error::config("none here");
    };
    config::Problems problems;
    const auto catalog = catalogs_.read(*models_.back(), compile::supportOf(types_), problems);
    const int before = made();
    result_ = compile::compile(*models_.back(), {*catalog, types_, trust}, cache_);
    return made() - before;
  }
  const routing::Rule* rule() const {
    return routing::routesOf(result_.snapshot->binds.at(0).service)
        .match(test::RequestMaker("GET", "a.test", "/").head())
        .rule;
  }
  const std::vector<AwaitingUse>& awaiting() const { return result_.awaiting; }
  bool served() const { return !rule()->backends.at(0).failure; }
  const routing::BackendPlan* backend() const { return rule()->backends.at(0).backend.get(); }

 private:
  processing::BuiltinTypes types_ = test::processorTypes();
  std::vector<std::unique_ptr<const config::Model>>
      models_;  // old models are kept so that no new object gets the address of an earlier one
  config::CatalogCache catalogs_;
  CompileCache cache_;
  CompileResult result_;
};

std::string backend(const std::string& fields, const std::string& config = "{secret: token}") {
  return with(test::kBackend, "spec: {",
              "spec: {extensions: [{name: a, type: 'sluice.dev/Test:v1', phase: request-headers, config: " + config +
                  fields + "}], ");
}

std::string tokenSecret(const std::string& value) {
  return with(test::secret("token", {{"key", value}}), "name: token", "name: token, namespace: vault");
}

constexpr std::string_view kGrant = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: g, namespace: vault}
spec: {from: [{group: gateway.networking.k8s.io, kind: Backend, namespace: default}], to: [{group: '', kind: Secret}]}
)";

class ProcessorCacheTest : public testing::Test {
 protected:
  ProcessorCacheTest() { EXPECT_EQ(compile({}), 1); }

  struct Documents {
    std::string backend = sluice::compile::backend("");
    std::string secret = sluice::compile::tokenSecret("first");
    std::string grant{kGrant};
    std::string more = {};
  };
  int compile(const Documents& texts) {
    return process_.compile({std::string(test::kClass), std::string(test::kGateway), std::string(test::kRoute),
                             texts.backend, texts.secret, texts.grant, texts.more});
  }

  CompilingProcess process_;
};

TEST_F(ProcessorCacheTest, KeepsAnUnchangedProcessorWithItsBackendAndRule) {
  const routing::BackendPlan* before = process_.backend();
  ASSERT_NE(before->chain, nullptr);
  EXPECT_EQ(compile({}), 0);
  EXPECT_EQ(process_.backend(), before);
  const std::string other = with(with(test::kRoute, "name: route", "name: other"), "rules: [{",
                                 "rules: [{matches: [{path: {value: /other}}], ");
  EXPECT_EQ(compile({.more = other}), 0);
  EXPECT_EQ(process_.backend(), before);
  EXPECT_EQ(compile({.secret = tokenSecret("first") + "# a word\n", .more = "# a line\n"}), 0);
  EXPECT_EQ(process_.backend(), before);
}

TEST_F(ProcessorCacheTest, RemakesAProcessorIfItsSecretChangesOrIsRemoved) {
  const routing::BackendPlan* before = process_.backend();
  EXPECT_EQ(compile({.secret = tokenSecret("second")}), 1);
  EXPECT_NE(process_.backend(), before);
  EXPECT_EQ(compile({.secret = tokenSecret("second")}), 0);
  EXPECT_EQ(compile({.secret = ""}), 1);
  EXPECT_FALSE(process_.served());
  EXPECT_EQ(compile({.secret = ""}), 0) << "a refusal that stays is no change";
  EXPECT_FALSE(process_.served());
  EXPECT_EQ(compile({}), 1);
  EXPECT_TRUE(process_.served());
}

TEST_F(ProcessorCacheTest, RemakesAProcessorWhenWhatItAwaitsMayHaveCome) {
  const std::string awaiting = backend("", "{awaits: missing}");
  EXPECT_EQ(compile({.backend = awaiting}), 1);
  EXPECT_FALSE(process_.served());
  ASSERT_EQ(process_.awaiting().size(), 1U);
  EXPECT_EQ(process_.awaiting()[0].state, processing::LoadState::kDegraded);
  EXPECT_EQ(compile({.backend = awaiting}), 0) << "it has not come";
  EXPECT_EQ(process_.awaiting().size(), 1U);
  test::AwaitedByTest::come() = true;
  EXPECT_EQ(compile({.backend = awaiting}), 1);
  test::AwaitedByTest::come() = false;
  EXPECT_TRUE(process_.served());
  EXPECT_TRUE(process_.awaiting().empty());
  EXPECT_EQ(compile({.backend = awaiting}), 0) << "what is loaded stays";
}

TEST_F(ProcessorCacheTest, RemakesAProcessorIfItsGrantIsRemoved) {
  EXPECT_EQ(compile({.grant = ""}), 1);
  EXPECT_FALSE(process_.served());
  EXPECT_EQ(compile({}), 1);
  EXPECT_TRUE(process_.served());
}

TEST_F(ProcessorCacheTest, RemakesAProcessorIfARelevantFieldOfItsUseChanges) {
  const routing::BackendPlan* before = process_.backend();
  EXPECT_EQ(compile({.backend = backend("", "{secret: token, more: 1}")}), 1);
  EXPECT_NE(process_.backend(), before);
  EXPECT_EQ(compile({.backend = backend(", preAuth: true", "{secret: token, more: 1}")}), 1);
  before = process_.backend();
  EXPECT_EQ(compile({.backend = backend(", preAuth: true, priority: 3", "{secret: token, more: 1}")}), 0);
  EXPECT_NE(process_.backend(), before) << "its step is another";
  EXPECT_EQ(process_.backend()->chain->all().at(0).priority, 3);
}

TEST_F(ProcessorCacheTest, FollowsAChangedCatalog) {
  const auto with = [&](const std::string& entry) {
    return test::configMap("settings", "settings.yaml", "processorCatalogs: [{namespace: default, name: types}]\n") +
           "---\n" + test::configMap("types", "a.yaml", entry);
  };
  const std::string gatewayClass =
      test::with(test::kClass, "spec: {",
                 "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ");
  const auto compiled = [&](const std::string& entry) {
    return process_.compile({gatewayClass, std::string(test::kGateway), std::string(test::kRoute), backend(""),
                             tokenSecret("first"), std::string(kGrant), with(entry)});
  };
  const std::string entry = "{type: 'sluice.dev/Test:v1', engine: builtin, phases: [request-headers]";
  EXPECT_EQ(compiled(entry + "}\n"), 0);
  const routing::BackendPlan* before = process_.backend();
  EXPECT_EQ(compiled(entry + ", defaults: {failOpen: true}}\n"), 0);
  EXPECT_NE(process_.backend(), before);
  EXPECT_TRUE(process_.backend()->chain->all().at(0).failOpen);
  EXPECT_EQ(compiled(entry + ", defaults: {preAuth: true}}\n"), 1);
  static_cast<void>(compiled("{type: 'sluice.dev/Test:v1', engine: builtin, phases: [backend-request]}\n"));
  EXPECT_FALSE(process_.served()) << "its phase is allowed no more";
}

TEST_F(ProcessorCacheTest, FollowsTheBoundsOfContextsScriptsAndWorkAndNoOtherLimit) {
  const std::string gatewayClass =
      test::with(test::kClass, "spec: {",
                 "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ");
  const auto compiled = [&](const std::string& limits) {
    return process_.compile({gatewayClass, std::string(test::kGateway), std::string(test::kRoute), backend(""),
                             tokenSecret("first"), std::string(kGrant),
                             test::configMap("settings", "settings.yaml", "limits: {" + limits + "}\n")});
  };
  EXPECT_EQ(compiled("processorContext: 16Ki"), 0) << "that is the default";
  EXPECT_EQ(compiled("processorContext: 8Ki"), 1);
  EXPECT_EQ(compiled("processorContext: 8Ki, processorBuffer: 1Mi"), 0);
  EXPECT_EQ(compiled("processorContext: 8Ki, luaScriptBytes: 1Ki"), 1);
  EXPECT_EQ(compiled("processorContext: 8Ki, luaScriptBytes: 1Ki, stepWork: 1Mi"), 1);
  EXPECT_EQ(compiled("processorContext: 8Ki, luaScriptBytes: 1Ki, stepWork: 1Mi, headerBytes: 32Ki"), 1);
}

TEST_F(ProcessorCacheTest, DropsProcessorsThatTheLastConfigurationDidNotHave) {
  EXPECT_EQ(compile({.backend = std::string(test::kBackend)}), 0);
  EXPECT_EQ(compile({}), 1);
}

}  // namespace
}  // namespace sluice::compile

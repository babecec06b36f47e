// Replacements of sluice.dev/ExtProc:v1 and sluice.dev/ExternalAuth:v1 that find their server and never call it, for
// tests of how the spellings of external processors are compiled. They read only the reference in their config.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "proxy/compile/processors/compile_processors.h"
#include "proxy/processing/factory.h"
#include "proxy/routing/backend_target.h"
#include "test/compile/processor_types.h"
#include "test/routing/request_maker.h"

namespace sluice::compile::test {

class ServedProcessor final : public processing::PreAuthProcessor {
 public:
  explicit ServedProcessor(std::shared_ptr<const processing::CalloutTarget> target) : targets_{std::move(target)} {}
  std::span<const processing::Phase> phases() const override { return phases_; }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override { return targets_; }
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }

 private:
  const std::array<processing::Phase, 1> phases_{processing::Phase::kRequestHeaders};
  const std::array<std::shared_ptr<const processing::CalloutTarget>, 1> targets_;
};

inline processing::Made makeServedProcessor(const processing::Use& use) {
  const content::Value* service = use.config.find("service");  // a server of the settings
  const content::Value* refs = use.config.find("backendRefs");
  processing::FoundBackend server = use.targets.find(service != nullptr ? *service : refs->items.front(), true);
  if (server.target == nullptr) return {nullptr, std::move(server.refusal)};
  return {std::make_shared<const ServedProcessor>(std::move(server.target)), {}};
}

inline processing::Made makeServedAuthorization(const processing::Use& use) {
  processing::FoundBackend server = use.targets.find(*use.config.find("backendRef"), false);
  if (server.target == nullptr) return {nullptr, std::move(server.refusal)};
  return {std::make_shared<const ServedProcessor>(std::move(server.target)), {}};
}

/// Returns processorTypes() and the type for external processors.
inline processing::BuiltinTypes typesWithServers() {
  processing::BuiltinTypes types = processorTypes();
  types.push_back({.type = "sluice.dev/ExtProc:v1",
                   .phases = {processing::Phase::kRequestHeaders, processing::Phase::kRequestBody,
                              processing::Phase::kResponseHeaders, processing::Phase::kResponseBody},
                   .preAuth = true,
                   .schema = "{}",
                   .make = makeServedProcessor,
                   .spans = true});
  return types;
}

/// Returns typesWithServers() and the type for external authorization.
inline processing::BuiltinTypes typesWithAuthorization() {
  processing::BuiltinTypes types = typesWithServers();
  types.push_back({.type = "sluice.dev/ExternalAuth:v1",
                   .phases = {processing::Phase::kRequestHeaders},
                   .schema = "{}",
                   .make = makeServedAuthorization,
                   .spans = true,
                   .authorizes = true});
  return types;
}

/// Returns the plan of the first server that processors of the rule for GET / of a.test call; null if they call none.
template <typename World>
std::shared_ptr<const routing::BackendPlan> serverIn(const World& world) {
  const routing::Rule* rule = world.rule(routing::test::RequestMaker("GET", "a.test", "/"));
  if (rule == nullptr || rule->chain == nullptr || rule->chain->targets().empty()) return nullptr;
  return routing::planOf(*rule->chain->targets().front());
}

/// Returns the names of the steps of the rule that answers GET / of this host, each followed by a semicolon.
template <typename World>
std::string ruleSteps(const World& world, const std::string& host = "a.test", const std::string& path = "/") {
  const routing::Rule* rule = world.rule(routing::test::RequestMaker("GET", host, path));
  return rule == nullptr ? "no rule" : stepNames(rule->chain.get());
}

}  // namespace sluice::compile::test

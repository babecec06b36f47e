// A replacement of sluice.dev/ExtProc:v1 that finds its server and never calls it, for tests of how the spellings of
// external processors are compiled. It reads only the reference in their config.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "proxy/compile/processors/compile_processors.h"
#include "proxy/processing/factory.h"
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

/// Returns the names of the steps of the rule that answers GET / of this host, each followed by a semicolon.
template <typename World>
std::string ruleSteps(const World& world, const std::string& host = "a.test", const std::string& path = "/") {
  const routing::Rule* rule = world.rule(routing::test::RequestMaker("GET", host, path));
  return rule == nullptr ? "no rule" : stepNames(rule->chain.get());
}

}  // namespace sluice::compile::test

// Defines types of payload processors that do nothing, for tests of how uses are compiled.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proxy/processing/chain.h"
#include "proxy/processing/factory.h"
#include "proxy/routing/backend_target.h"

namespace sluice::compile::test {

class NoopProcessor final : public processing::PreAuthProcessor {
 public:
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }
};

/// A processor with the given body mode.
class BodyReadingProcessor final : public processing::PreAuthProcessor {
 public:
  explicit BodyReadingProcessor(processing::BodyMode mode) : body_{.mode = mode} {}
  processing::BodyInterest body(processing::Phase /*phase*/) const override { return body_; }
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }

 private:
  const processing::BodyInterest body_;
};

template <processing::BodyMode mode>
processing::Made makeBodyReadingProcessor(const processing::Use& /*use*/) {
  return {std::make_shared<const BodyReadingProcessor>(mode), {}};
}

/// Something that becomes available when the test decides so.
class AwaitedByTest final : public processing::Awaited {
 public:
  bool mayHaveCome() const override { return come(); }
  static bool& come() {
    static bool come = false;
    return come;
  }
};

/// Makes a processor that reads a Secret if its config names one. If it has a Secret and is exposed, it is refused. If
/// its config has `awaits`, the processor waits: "missing" or "pending".
inline processing::Made makeNoopProcessor(const processing::Use& use) {
  if (const content::Value* awaits = use.config.find("awaits"); awaits != nullptr && !AwaitedByTest::come()) {
    return {nullptr, {"", "nobody is there"}, std::make_shared<const AwaitedByTest>(), awaits->text == "pending"};
  }
  if (const content::Value* secret = use.config.find("secret")) {
    const content::Value* nameSpace = use.config.find("namespace");
    auto found = use.secrets.find(nameSpace != nullptr ? nameSpace->text : "", secret->text, "");
    if (!found.bytes) return {nullptr, found.refusal};
    if (use.exposed) return {nullptr, {"InsecureCredential", "no TLS"}};
  }
  return {std::make_shared<const NoopProcessor>(), {}};
}

/// A processor that calls the server named in its config.
class CallingProcessor final : public processing::PreAuthProcessor {
 public:
  explicit CallingProcessor(const std::string& name) {
    auto plan = std::make_shared<routing::BackendPlan>();
    plan->name = name;
    plan->identity = name;
    targets_.push_back(std::make_shared<routing::BackendTarget>(std::move(plan)));
  }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override { return targets_; }
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }

 private:
  std::vector<std::shared_ptr<const processing::CalloutTarget>> targets_;
};

inline processing::Made makeCallingProcessor(const processing::Use& use) {
  return {std::make_shared<const CallingProcessor>(use.config.find("server")->text), {}};
}

/// A processor that remembers what it was made from, so that two processors can be compared.
class RecallingProcessor final : public processing::PreAuthProcessor {
 public:
  explicit RecallingProcessor(std::string made) : made_(std::move(made)) {}
  const std::string& made() const { return made_; }
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }

 private:
  const std::string made_;
};

/// Makes a processor from a Secret and a server that its config may name. It fails closed if it does not find one of
/// them.
inline processing::Made makeRecallingProcessor(const processing::Use& use) {
  std::string made = std::to_string(use.mostContext) + (use.exposed ? " exposed" : "");
  for (const content::Member& each : use.config.members) made += " " + each.key + "=" + each.value.text;
  if (const content::Value* secret = use.config.find("secret")) {
    const content::Value* nameSpace = use.config.find("namespace");
    auto found = use.secrets.find(nameSpace != nullptr ? nameSpace->text : "", secret->text, "");
    if (!found.bytes) return {nullptr, found.refusal};
    made += " of " + std::string(found.bytes->reveal());
  }
  if (const content::Value* server = use.config.find("backendRef")) {
    auto found = use.targets.find(*server, false);
    if (found.target == nullptr) return {nullptr, found.refusal};
    made += " asking " + routing::planOf(*found.target)->identity.text();
  }
  if (const content::Value* awaits = use.config.find("awaits"); awaits != nullptr && !AwaitedByTest::come()) {
    return {nullptr, {"", "nobody is there"}, std::make_shared<const AwaitedByTest>(), awaits->text == "pending"};
  }
  return {std::make_shared<const RecallingProcessor>(made), {}};
}

/// Returns the names of a chain's steps, each followed by a semicolon. The chain may be null.
inline std::string stepNames(const processing::Chain* chain) {
  std::string text;
  if (chain == nullptr) return text;
  for (const processing::Step& step : chain->all()) text += step.name + ";";
  return text;
}

inline processing::BuiltinTypes processorTypes() {
  return {{"sluice.dev/Test:v1",
           {processing::Phase::kRequestHeaders, processing::Phase::kBackendRequest},
           true,
           "{}",
           makeNoopProcessor},
          {"gateway.networking.k8s.io/CredentialInjector:v1",  // the type whose `secretRef` is a reference
           {processing::Phase::kRequestHeaders, processing::Phase::kBackendRequest},
           true,
           "{}",
           makeNoopProcessor},
          {"sluice.dev/Inspects:v1",
           {processing::Phase::kRequestBody},
           true,
           "{}",
           makeBodyReadingProcessor<processing::BodyMode::kInspected>},
          {"sluice.dev/Streams:v1",
           {processing::Phase::kRequestBody},
           true,
           "{}",
           makeBodyReadingProcessor<processing::BodyMode::kStreamed>},
          {"sluice.dev/Asks:v1", {processing::Phase::kRequestHeaders}, true, "{}", makeCallingProcessor}};
}

}  // namespace sluice::compile::test

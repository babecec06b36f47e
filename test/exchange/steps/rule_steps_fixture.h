// A fixture of two rules of a listener, Backends that record what they were sent, and steps that inject secrets or have
// the route matched again.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/exchange/steps/wait_fixture.h"
#include "test/support/table_entry.h"

namespace sluice::exchange {

inline constexpr const char* kOtherHost = "other.test";
inline constexpr const char* kMirrorHost = "mirror.test";

/// The properties of a step of a Gateway, a route or a Backend.
struct StepSpec {
  Scope scope = Scope::kRoute;
  std::int32_t priority = 0;
  bool preAuth = false;
  bool failOpen = false;
  Phase phase = Phase::kRequestHeaders;
  processing::BodyInterest body = {};
};

inline Step makeRuleStep(const std::string& name, const StepSpec& spec, Work work) {
  Step made = step(name, spec.phase, std::move(work), spec.body, spec.priority, spec.scope);
  made.preAuth = spec.preAuth;
  made.failOpen = spec.failOpen;
  return made;
}

/// Makes a step that adds one more line of the field.
inline Work addsField(std::string name, std::string value) {
  return [=](Call& call) {
    call.edit.add(call.arena.copy(name), call.arena.copy(value));
    return Verdict::goOn();
  };
}
inline Work injectsHeader(std::string name, std::string secret) {
  return [=](Call& call) {
    const std::string_view field = call.arena.copy(name);
    call.edit.removeTwins(field);
    call.edit.add({field, call.arena.copy(secret), http::fieldId(field), http::Care::kSecret});
    return Verdict::goOn();
  };
}
inline Work injectsParameter(std::string name, std::string secret) {
  return [=](Call& call) {
    call.edit.setParameter(call.arena.copy(name), call.arena.copy(name + "=" + secret), http::Care::kSecret);
    return Verdict::goOn();
  };
}
/// Makes a step that sets x-model, by which the second rule is matched, and asks for another match.
inline Work asksForOther() {
  return [](Call& call) {
    call.edit.set("x-model", "other");
    if (call.wish != nullptr) call.wish->matchAgain = true;
    return Verdict::goOn();
  };
}

/// "/ok" leads to the rig's Backend; with "x-model: other" it leads to another one.
class RuleSteps : public ProcessWait {
 protected:
  void SetUp() override {
    ProcessWait::SetUp();
    steps_ = {};
    firstRule_ = otherRule_ = {};
    mirrored_ = false;
  }

  struct Steps {
    std::vector<Step> beforeRouting;
    std::vector<Step> gateway;
    std::vector<Step> first;  // steps of the rule that is matched first
    std::vector<Step> other;  // steps of the rule that x-model leads to
    std::vector<Step> firstBackend;
    std::vector<Step> otherBackend;
    std::vector<Step> mirror;  // steps of the Backend that the rules' copies go to
  };

  void start() {
    const Steps& steps = steps_;
    options_.listener = [steps](routing::ServedListener& listener) {
      listener.preRouting = chainOf(steps.beforeRouting);
      listener.chain = chainOf(steps.gateway);
    };
    const auto mirrors = [this](routing::Rule& rule, const routing::BackendPlan& plan) {
      if (!mirrored_) return;
      rule.mirrors.push_back({planOf(plan, "demo/mirror", kMirrorHost, steps_.mirror), 1, 1});
    };
    options_.routes = [this, mirrors, retrying = options_.rule](const std::shared_ptr<routing::BackendPlan>& plan) {
      auto rule = std::make_shared<routing::Rule>();
      rule->route = "demo/other";
      rule->backends.emplace_back().backend = planOf(*plan, "demo/other", kOtherHost, steps_.otherBackend);
      rule->chain = chainOf(steps_.other);
      retrying(*rule);
      if (otherRule_) otherRule_(*rule, *plan);
      mirrors(*rule, *plan);
      for (const routing::WeightedBackend& backend : rule->backends) rule->totalWeight += backend.weight;
      routing::test::TableEntry entry;
      entry.path = "/ok";
      entry.headers = {{"x-model", "other"}};
      entry.rule = std::move(rule);
      std::vector<routing::test::TableEntry> entries;
      entries.push_back(std::move(entry));
      return entries;
    };
    with(steps_.first, steps_.firstBackend, [this, mirrors](routing::Rule& rule) {
      const routing::BackendPlan plan = *rule.backends[0].backend;
      if (firstRule_) firstRule_(rule, plan);
      mirrors(rule, plan);
    });
    rig_->resolver.know(kOtherHost, {"192.0.2.2"});
    rig_->resolver.know(kMirrorHost, {"192.0.2.3"});
  }

  static std::shared_ptr<const processing::Chain> chainOf(const std::vector<Step>& steps) {
    return steps.empty() ? nullptr : std::make_shared<const processing::Chain>(steps);
  }
  static std::shared_ptr<const routing::BackendPlan> planOf(const routing::BackendPlan& like, const std::string& name,
                                                            const std::string& host, const std::vector<Step>& steps) {
    auto plan = std::make_shared<routing::BackendPlan>(like);
    plan->name = name;
    plan->identity = name;
    plan->hostname = host;
    plan->authority = host + ":8080";
    plan->chain = chainOf(steps);
    return plan;
  }

  std::size_t request(test::FieldList fields = {}, const std::string& target = "/ok") {
    return ask({.target = target, .fields = std::move(fields)});
  }
  /// Returns the requests that came to that host, each as "METHOD target" and its fields, a line each.
  std::vector<std::string> sentTo(std::string_view host) {
    std::vector<std::string> found;
    for (const auto& backend : rig_->backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i) {
        const http::RequestHead& head = backend->request(i).message.head;
        if (!head.authority.starts_with(host)) continue;
        std::string text = std::string(head.target) + "\n";
        for (const http::Field& field : head.headers) {
          text += std::string(field.name) + ": " + std::string(field.value) + "\n";
        }
        found.push_back(std::move(text));
      }
    }
    return found;
  }
  /// Returns the only request that came to that host.
  std::string onlyTo(std::string_view host) {
    const std::vector<std::string> found = sentTo(host);
    EXPECT_EQ(found.size(), 1U) << host;
    return found.empty() ? "" : found.front();
  }
  static bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

  Steps steps_;
  bool mirrored_ = false;
  std::function<void(routing::Rule&, const routing::BackendPlan&)> firstRule_;
  std::function<void(routing::Rule&, const routing::BackendPlan&)> otherRule_;
};

}  // namespace sluice::exchange

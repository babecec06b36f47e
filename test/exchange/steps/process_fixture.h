// A fixture of exchanges whose rule and Backend have payload processors that a test scripts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/exchange/attempt/rule_retry_fixture.h"

namespace sluice::exchange {

using http::Body;
using http::Version;
using processing::Call;
using processing::Phase;
using processing::Reply;
using processing::Scope;
using processing::Step;
using processing::Verdict;
using test::BackendPeer;
using test::Rig;
using test::RigOptions;

/// The ways in which a step asks for a body: whole or in pieces as they come, to change it or only to read it.
inline constexpr processing::BodyInterest kEditsWhole{processing::BodyMode::kBuffered, 0, true, false};
inline constexpr processing::BodyInterest kEditsPieces{processing::BodyMode::kStreamed, 0, true, false};
inline constexpr processing::BodyInterest kReadsWhole{processing::BodyMode::kBuffered, 0, false, false};
inline constexpr processing::BodyInterest kReadsPieces{processing::BodyMode::kStreamed, 0, false, false};

using Work = std::function<Verdict(Call&)>;

/// A processor that a test scripts.
class WorkProcessor final : public processing::PreAuthProcessor {
 public:
  explicit WorkProcessor(Work work) : work_(std::move(work)) {}
  Verdict process(Call& call) const override { return work_(call); }

 private:
  const Work work_;
};

inline Step step(const std::string& name, Phase phase, Work work, std::int32_t priority = 0,
                 Scope scope = Scope::kRoute) {
  return {std::make_shared<const WorkProcessor>(std::move(work)),
          name,
          "acme.test/Script:v1",
          phase,
          scope,
          priority,
          false,
          false};
}

/// Makes a step of a phase that has bodies, with the interest in them that `body` names.
inline Step step(const std::string& name, Phase phase, Work work, const processing::BodyInterest& body,
                 std::int32_t priority = 0, Scope scope = Scope::kRoute) {
  Step made = step(name, phase, std::move(work), priority, scope);
  made.body = body;
  return made;
}

inline Step open(Step step) {
  step.failOpen = true;
  return step;
}

inline Work goesOn() {
  return [](Call&) { return Verdict::goOn(); };
}
inline Work setsRequest(std::string name, std::string value) {
  return [=](Call& call) {
    call.edit.set(call.arena.copy(name), call.arena.copy(value));
    return Verdict::goOn();
  };
}
inline Work setsResponse(std::string name, std::string value) {
  return [=](Call& call) {
    call.response->headers.set(call.arena, call.arena.copy(name), call.arena.copy(value));
    return Verdict::goOn();
  };
}
/// Makes the edits of a step that fails after them.
inline void doHalf(Call& call) {
  if (call.response != nullptr) {
    call.response->headers.set(call.arena, "x-half", "done");
  } else {
    call.edit.set("x-half", "done");
  }
}
inline Work fails() {
  return [](Call& call) {
    doHalf(call);
    return Verdict::fail("it broke");
  };
}
inline Work replies(std::uint16_t status) {
  return [=](Call&) {
    Reply reply{base::Error(base::ErrorType::kRateLimited, base::ErrorOrigin::kProcessor, "slow down"), {}};
    reply.error.status = status;
    reply.fields.emplace_back("retry-after", "7");
    return Verdict::reply(std::move(reply));
  };
}

class ProcessorSteps : public RuleRetry {
 protected:
  void SetUp() override { options_ = retrying(backendVersion(), 1); }

  /// Sets the steps of the rule, and of the Backend of its first weighted backend.
  Rig& with(std::vector<Step> ofRule, std::vector<Step> ofBackend = {},
            const std::function<void(routing::Rule&)>& more = {}) {
    options_.rule = [=, before = options_.rule](routing::Rule& rule) {
      before(rule);
      if (!ofRule.empty()) rule.chain = std::make_shared<const processing::Chain>(ofRule);
      if (!ofBackend.empty()) {
        auto plan = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
        plan->chain = std::make_shared<const processing::Chain>(ofBackend);
        rule.backends[0].backend = std::move(plan);
      }
      if (more) more(rule);
    };
    return make(options_);
  }
  using RuleRetry::post;
  std::size_t post(std::string_view body, bool ends = true) {
    const std::size_t index = client_->ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    client_->body(index, body);
    if (ends) client_->finish(index);
    EXPECT_TRUE(rig_->settle());
    return index;
  }
  const http::Headers& seen(BackendPeer& backend) {
    return backend.request(backend.requests() - 1).message.head.headers;
  }
  std::string fieldOf(const http::Headers& headers, std::string_view name) {
    std::string values;
    for (const http::Field& field : headers) {
      if (field.name == name) values += (values.empty() ? "" : ",") + std::string(field.value);
    }
    return values;
  }
  const http::Headers& answered(std::size_t index) { return client_->answer(index).message.head.headers; }

  RigOptions options_;
};

}  // namespace sluice::exchange

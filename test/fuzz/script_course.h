// Runs a script in Lua on a request and its response, piece by piece, within small bounds.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/lua/lua_processor.h"
#include "filters/lua/lua_script.h"
#include "proxy/http/field_grammar.h"
#include "proxy/http/grammar.h"
#include "proxy/processing/pipeline.h"
#include "test/fuzz/fuzz_input.h"
#include "test/support/fake_host.h"

namespace sluice::test {

class ScriptCourse {
 public:
  static constexpr filters::lua::ScriptBounds kBounds{.memory = std::uint64_t{512} * 1024, .instructions = 20'000};
  static constexpr std::size_t kMostBody = std::size_t{16} * 1024;

  explicit ScriptCourse(const std::shared_ptr<const filters::lua::LuaScript>& script) {
    host_.time.tick(std::chrono::microseconds(100));
    host_.limits = {kMostBody, 1024, kMostBody, 100};
    filters::lua::ScriptUse use;
    use.type = "acme.test/Script:v1";
    use.name = "use";
    use.number = script->nextUse();
    const auto processor = filters::lua::makeLuaProcessor(script, std::move(use), {});
    std::vector<processing::Step> steps;
    for (std::size_t i = 0; i < processing::kPhases; ++i) {
      const auto phase = static_cast<processing::Phase>(i);
      if (!script->has(phase)) continue;
      processing::Step& step = steps.emplace_back();
      step.processor = processor;
      step.phase = phase;
      step.scope = processing::Scope::kRoute;
      step.body = processor->body(phase);
    }
    chain_.emplace(std::move(steps));
    request_.target = "/a?b";
    request_.authority = "a.test";
    request_.headers.add(arena_, "host", "a.test");
    request_.headers.add(arena_, "x-a", "1");
    response_.status = 200;
    response_.headers.add(arena_, "x-a", "2");
  }

  /// Adds a field to the request.
  void field(std::string_view name, std::string_view value) { request_.headers.add(arena_, name, value); }
  /// Runs the steps of both ways with this body. Returns the body of the request as it goes on.
  std::string run(std::string_view body) {
    std::string passed = runWay(body, {processing::Phase::kRequestHeaders, processing::Phase::kRequestBody});
    runWay(body, {processing::Phase::kResponseHeaders, processing::Phase::kResponseBody});
    check();
    return passed;
  }
  bool isRefused() const { return refused_; }

 private:
  std::string runWay(std::string_view body, const std::array<processing::Phase, 2>& phases) {
    const bool ofResponse = !processing::isOfRequest(phases[0]);
    (ofResponse ? response_.body : request_.body) = http::Body::kUntilEnd;
    const processing::Chains chains{nullptr, &*chain_, nullptr};
    const bool wanted = processing::wantsBody(chains, processing::bitOf(phases[1]));
    const processing::StepTarget target{request_, ofResponse ? &response_ : nullptr, arena_, holds_,
                                        ofResponse ? nullptr : &wish_};
    processing::Pipeline pipeline(host_, target, pool_, processing::bodyPath(http::Body::kUntilEnd, wanted));
    for (const processing::Phase phase : phases) pipeline.append(chains, phase);
    pipeline.seal();
    base::ByteQueue out(pool_);
    constexpr std::size_t kPiece = 100;
    bool goesOn = move(pipeline, out);
    while (goesOn && pipeline.carries() && !body.empty()) {
      pipeline.source.append(body.substr(0, kPiece));
      body.remove_prefix(std::min(kPiece, body.size()));
      goesOn = move(pipeline, out);
    }
    if (pipeline.carries()) pipeline.end(std::nullopt);
    refused_ = !goesOn || !move(pipeline, out);
    require(refused_ || pipeline.suspended() == nullptr, "a script without Backends waits for nothing but its body");
    return out.text();
  }
  /// Returns false if a step has answered or failed.
  static bool move(processing::Pipeline& pipeline, base::ByteQueue& out) {
    using Outcome = processing::Pipeline::Outcome;
    Outcome outcome = pipeline.go(out, 0);
    while (outcome == Outcome::kMatchAgain) outcome = pipeline.go(out, 0);
    return outcome != Outcome::kRefused;
  }

  void check() const {
    for (const http::Headers* const headers : {&request_.headers, &response_.headers, &wish_.hints}) {
      for (const http::Field& field : *headers) {
        require(http::isFieldName(field.name) && http::isFieldValue(field.value), "fields have names and values");
      }
    }
    require(request_.headers.find("host") != nullptr && request_.headers.find("te") == nullptr,
            "what is the gateway's stays");
    require(request_.target.starts_with('/'), "the target is a path");
    require(http::isToken(request_.methodText) && request_.method == http::methodFrom(request_.methodText),
            "the method is one");
    require(response_.status >= 200 && response_.status <= 599, "the status is final");
    for (const processing::FakeHost::EndedStep& each : host_.told) {
      require(each.kind != processing::Verdict::Kind::kWait, "a step that has ended has decided");
    }
  }

  processing::FakeHost host_;
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::RequestHead request_;
  http::ResponseHead response_;
  processing::RouteWish wish_;
  bool refused_ = false;
  std::optional<processing::Chain> chain_;
  processing::Holds holds_;  // gives back before everything else goes
};

}  // namespace sluice::test

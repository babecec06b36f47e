// One use of a built-in type, and one exchange for it to work on; the rig takes the chain's place.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "config/yaml/yaml_reader.h"
#include "proxy/processing/chain.h"
#include "proxy/processing/factory.h"
#include "test/filters/scripted_callout.h"
#include "test/support/manual_clock.h"
#include "test/support/no_services.h"

namespace sluice::test {

class FilterRig final : private processing::SecretLookup,
                        private processing::TargetLookup,
                        private processing::StepControl {
 public:
  using Fields = std::initializer_list<std::pair<const char*, const char*>>;

  explicit FilterRig(processing::BuiltinType type) : type_(std::move(type)) {}

  /// Applies to the next make().
  bool preAuth = false;
  bool exposed = false;
  std::uint64_t mostContext = std::uint64_t{16} * 1024;
  processing::Phase phase = processing::Phase::kRequestHeaders;
  std::string owner = "Backend demo/api";
  processing::Place place{"demo/egress", "demo/route", "demo/api"};
  processing::Peer peer{"192.0.2.1", "apps", "worker"};
  ManualClock clock;
  processing::RouteWish wish;
  processing::Destination* destination = nullptr;

  /// A namespace that grants nothing.
  static constexpr std::string_view kForbidden = "other";
  /// Stores a Secret of the rig, by "namespace/name/key".
  void keep(const std::string& secret, const std::string& bytes) { secrets_[secret] = bytes; }

  /// Makes the processor of a use with this config (YAML), with no state of an earlier one; returns "" if it could,
  /// else "Reason: message".
  std::string make(const std::string& config) {
    end();
    processor_.reset();
    return remake(config);
  }
  /// Replaces the processor by another one, as a reload does.
  std::string remake(const std::string& config) {
    config_ = {};
    config::Problems problems;
    config::forEachDocument(config, {}, problems, [this](const content::Value& root) { config_ = root; });
    EXPECT_TRUE(problems.empty()) << config;
    processing::Made made = type_.make({owner, "use", phase, processing::bitOf(phase), preAuth, config_, *this, *this,
                                        states_, exposed, nullptr, mostContext});
    processor_ = std::move(made.processor);
    return processor_ ? "" : made.refusal.reason + ": " + made.refusal.message;
  }

  void request(Fields fields, const std::string& target = "/") {
    request_.head.method = http::Method::kGet;
    request_.head.target = request_.arena.copy(target);
    add(request_, fields);
  }
  /// Makes a request with the fields of a client, at which hygiene has looked.
  void sent(Fields fields) {
    request({});
    for (const auto& [name, value] : fields) {
      request_.head.headers.add(request_.arena, {name, value, http::fieldId(name), http::Care::kNone});
    }
  }
  /// Makes a request with one field that a step before has put in.
  void requestSecret(std::string_view name, std::string_view value) {
    request_.head.headers = {};
    request_.head.headers.add(request_.arena, {name, value, http::fieldId(name), http::Care::kSecret});
  }
  void method(http::Method method) { request_.head.method = method; }
  void response(std::uint16_t status, Fields fields) {
    response_ = std::make_unique<http::ResponseMessage>(pool_);
    response_->head.status = status;
    add(*response_, fields);
  }
  processing::Verdict run(processing::Phase at, processing::Body* body = nullptr) {
    // The chain does the same before it runs a step.
    for (const std::string& owned : processor_->ownedFields()) request_.head.headers.removeTwins(owned);
    processing::Step step;
    step.processor = processor_;
    processing::RequestEditor editor(request_.arena, request_.head, step, nullptr);
    processing::Call call{at,     place,         request_.arena,
                          clock,  request_.head, editor,
                          holds_, holds_,        response_ ? &response_->head : nullptr,
                          body,   &wish,         destination,
                          *this,  nothing_,      std::chrono::seconds(1),
                          memory_};
    return processor_->process(call, peer);
  }
  /// Ends the exchanges that ran so far.
  void end() {
    holds_.release();
    memory_ = nullptr;
  }

  const processing::Processor& processor() const { return *processor_; }
  /// Lets backendRefs lead to a server that answers each callout like this, once all of its request has come.
  void answer(std::uint16_t status, Fields fields, const std::string& body) { server_.emplace(status, fields, body); }
  const ScriptedCallout& server() const { return *server_; }

  std::string requestFields() const { return text(request_.head.headers); }
  std::string responseFields() const { return text(response_->head.headers); }
  std::string target() const { return std::string(request_.head.target); }

 private:
  processing::Resumer suspend(std::optional<base::MonotonicTime> /*until*/) override { return {}; }
  void pause(base::MonotonicTime /*until*/) override {}
  processing::Callout& callout(const processing::CalloutRequest& wanted) override {
    if (!server_) return nobody_;
    server_->take(wanted.head);
    return *server_;
  }
  std::unique_ptr<processing::Callout> lastingCallout(const processing::CalloutRequest& wanted) override {
    return nothing_.callout(wanted, {});
  }
  template <typename Message>
  static void add(Message& message, Fields fields) {
    message.head.headers = {};
    for (const auto& [name, value] : fields) message.head.headers.add(message.arena, name, value);
  }
  static std::string text(const http::Headers& headers) {
    std::string lines;
    for (const http::Field& field : headers) {
      lines += std::string(field.name) + "=" + std::string(field.value) + ";";
    }
    return lines;
  }

  processing::FoundBackend find(const content::Value& /*backendRef*/, bool /*http2*/) const override {
    if (server_) return {std::make_shared<const processing::CalloutTarget>(), {}};
    return {nullptr, {"BackendNotFound", "this rig has no Backends"}};
  }
  processing::FoundSecret find(std::string_view nameSpace, std::string_view name, std::string_view key) const override {
    if (nameSpace == kForbidden) return {{}, {"RefNotPermitted", "no ReferenceGrant permits it"}};
    const std::string prefix = (nameSpace.empty() ? "demo" : std::string(nameSpace)) + "/" + std::string(name) + "/";
    for (const auto& [where, bytes] : secrets_) {
      const bool meant = key.empty() ? where.starts_with(prefix) : where == prefix + std::string(key);
      if (meant) return {base::Secret(bytes), {}};
    }
    return {{}, {"InvalidSecretRef", "Secret " + prefix + std::string(key) + " does not exist"}};
  }

  const processing::BuiltinType type_;
  processing::SharedStates states_;
  std::map<std::string, std::string> secrets_;
  content::Value config_;
  std::shared_ptr<const processing::Processor> processor_;
  base::ChunkPool pool_;
  http::RequestMessage request_{pool_};
  NoServices nothing_;
  FailedCallout nobody_;
  std::optional<ScriptedCallout> server_;
  void* memory_ = nullptr;
  processing::Holds holds_;  // releases its holds before the processor and the arena are destroyed
  std::unique_ptr<http::ResponseMessage> response_;
};

}  // namespace sluice::test

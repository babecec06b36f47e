// One use of a built-in type or of an engine's, and one exchange for it to work on; the rig takes the chain's place.
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

class FilterRig : private processing::SecretLookup, private processing::TargetLookup, private processing::StepControl {
 public:
  using Fields = std::initializer_list<std::pair<const char*, const char*>>;

  explicit FilterRig(processing::BuiltinType type) : type_(std::move(type)) {}

  /// Applies to the next make().
  bool preAuth = false;
  bool exposed = false;
  std::uint64_t mostContext = std::uint64_t{16} * 1024;
  std::uint64_t mostScript = std::uint64_t{256} * 1024;
  processing::WorkBounds work;
  processing::Phase phase = processing::Phase::kRequestHeaders;
  /// The phases in which the use may run; 0: `phase` alone.
  std::uint8_t phases = 0;
  std::string owner = "Backend demo/api";
  processing::Place place{"demo/egress", "demo/route", "demo/api"};
  processing::Peer peer{"192.0.2.1", "apps", "worker", "spiffe://a.test/ns/apps/sa/worker",
                        base::Assurance::kCertificate};
  ManualClock clock;
  base::Duration timeout = std::chrono::seconds(1);
  NoServices services;
  processing::RouteWish wish;
  processing::Destination* destination = nullptr;
  /// The settings of the catalog's entry, for an engine (YAML), and the type that it gives them.
  std::string engine;
  std::string typeOfCatalog;

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
    config_ = read(config);
    if (!engine.empty()) engine_ = read(engine);
    const bool isOfEngine = engine_.kind == content::Value::Kind::kMap;
    const std::uint8_t in = phases != 0 ? phases : processing::bitOf(phase);
    processing::Made made = type_.make({owner, "use", phase, in, preAuth, config_, *this, *this, states_, exposed,
                                        isOfEngine ? &engine_ : nullptr, mostContext, mostScript, work, typeOfCatalog});
    processor_ = std::move(made.processor);
    awaited_ = std::move(made.awaited);
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
    response_ = std::make_unique<http::ResponseMessage>(pool);
    response_->head.status = status;
    add(*response_, fields);
  }
  processing::Verdict run(processing::Phase at, processing::Body* body = nullptr) {
    // The chain does the same before it runs a step.
    for (const std::string& owned : processor_->ownedFields()) request_.head.headers.removeTwins(owned);
    processing::Step step;
    step.processor = processor_;
    processing::RequestEditor editor(request_.arena, request_.head, step, nullptr);
    RigStep& mine = steps_[turn_];
    processing::Call call{at,          place,         request_.arena,
                          clock,       request_.head, editor,
                          mine.holds,  mine.holds,    response_ ? &response_->head : nullptr,
                          body,        &wish,         destination,
                          *this,       services,      timeout,
                          clock.now(), mine.memory};
    return processor_->process(call, peer);
  }
  /// Lets the step of that number run from here on; a new one, if it has not run. The others wait.
  void turnTo(int number) { turn_ = number; }
  /// Ends the step whose turn it is, as its exchange does when it ends.
  void end() {
    steps_[turn_].holds.release();
    steps_[turn_].memory = nullptr;
  }

  const processing::Processor& processor() const { return *processor_; }
  const std::shared_ptr<const processing::Processor>& sharedProcessor() const { return processor_; }
  /// Returns what the last use waits for; null if it waits for nothing.
  const processing::Awaited* awaited() const { return awaited_.get(); }
  /// Lets backendRefs lead to a server that answers each callout like this, once all of its request has come.
  void answer(std::uint16_t status, Fields fields, const std::string& body) { server_.emplace(status, fields, body); }
  const ScriptedCallout& server() const { return *server_; }

  std::string requestFields() const { return text(request_.head.headers); }
  std::string responseFields() const { return text(response_->head.headers); }
  std::string target() const { return std::string(request_.head.target); }
  http::RequestHead& head() { return request_.head; }
  base::Arena& arena() { return request_.arena; }
  const http::ResponseHead& responseHead() const { return response_->head; }

 protected:
  static content::Value read(const std::string& yaml) {
    content::Value value;
    config::Problems problems;
    config::forEachDocument(yaml, {}, problems, [&value](const content::Value& root) { value = root; });
    EXPECT_TRUE(problems.empty()) << yaml;
    return value;
  }

  base::ChunkPool pool;
  content::Value engine_;  // the settings of the catalog's entry; null for a built-in type

 private:
  struct RigStep {
    void* memory = nullptr;
    processing::Holds holds;
  };

  processing::Resumer suspend(std::optional<base::MonotonicTime> /*until*/) override { return {}; }
  void pause(base::MonotonicTime /*until*/) override {}
  processing::Callout& callout(const processing::CalloutRequest& wanted) override {
    if (!server_) return nobody_;
    server_->take(wanted.head);
    return *server_;
  }
  std::unique_ptr<processing::Callout> lastingCallout(const processing::CalloutRequest& wanted) override {
    return services.callout(wanted, {});
  }
  std::uint64_t client() const override { return std::hash<std::string_view>{}(peer.address); }
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
  std::shared_ptr<const processing::Awaited> awaited_;
  http::RequestMessage request_{pool};
  FailedCallout nobody_;
  std::optional<ScriptedCallout> server_;
  std::unique_ptr<http::ResponseMessage> response_;
  int turn_ = 0;
  std::map<int, RigStep> steps_;  // they release their holds before the processor and the arena are destroyed
};

}  // namespace sluice::test

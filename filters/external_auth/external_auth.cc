#include "filters/external_auth/external_auth.h"

#include <algorithm>

#include "filters/external_auth/auth_settings.h"
#include "filters/external_auth/grpc_check.h"
#include "filters/external_auth/http_check.h"
#include "filters/wire_text.h"

namespace sluice::filters {
namespace {

using processing::Phase;
using processing::Verdict;

constexpr std::string_view kExternalAuthSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "ExternalAuth",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "protocol": {"enum": ["HTTP", "GRPC"]},
    "backendRef": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "group": {"type": "string", "maxLength": 253},
        "kind": {"type": "string", "minLength": 1, "maxLength": 63},
        "name": {"type": "string", "minLength": 1, "maxLength": 253},
        "namespace": {"type": "string", "minLength": 1, "maxLength": 63},
        "port": {"type": "integer", "minimum": 1, "maximum": 65535}
      },
      "required": ["name"]
    },
    "http": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "path": {"type": "string", "maxLength": 1024},
        "allowedHeaders": {"$ref": "#/$defs/names"},
        "allowedResponseHeaders": {"$ref": "#/$defs/names"}
      }
    },
    "grpc": {
      "type": "object",
      "additionalProperties": false,
      "properties": {"allowedHeaders": {"$ref": "#/$defs/names"}}
    },
    "forwardBody": {
      "type": "object",
      "additionalProperties": false,
      "properties": {"maxSize": {"type": "integer", "minimum": 0}}
    }
  },
  "required": ["protocol", "backendRef"],
  "$defs": {"names": {"type": "array", "maxItems": 64, "items": {"type": "string", "minLength": 1}}}
})";

/// The number of bytes that are given to a callout at a time; limits.exchangeBuffer is never smaller.
constexpr std::size_t kPiece = 16 * 1024;

class ExternalAuth final : public processing::Processor {
 public:
  explicit ExternalAuth(AuthSettings settings) : settings_(std::move(settings)) {
    phases_.push_back(settings_.maxBody > 0 ? Phase::kRequestBody : Phase::kRequestHeaders);
    if (settings_.grpc) phases_.push_back(Phase::kResponseHeaders);
  }

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    if (call.response != nullptr) return finish(call);
    AuthCheckState& check = call.state<AuthCheckState>();
    if (check.callout == nullptr) {
      if (auto refused = begin(call, peer, check)) return *refused;
    }
    processing::Callout& callout = *check.callout;
    const bool isAnswered = !settings_.grpc && callout.head() != nullptr;
    if (callout.error() && !isAnswered) return Verdict::fail(*callout.error());
    auto verdict = settings_.grpc ? judgeGrpc(call, callout, toClient(call)) : judgeHttp(call, settings_, callout);
    if (verdict) return *std::move(verdict);
    sendMore(check);
    callout.await(call.suspend(), processing::Callout::Moment::kChange);
    return Verdict::wait();
  }
  /// A denial takes effect even if its body is late.
  std::optional<Verdict> expired(processing::Call& call) const override {
    const processing::Callout* const callout = call.state<AuthCheckState>().callout;
    return callout == nullptr || settings_.grpc ? std::nullopt : denialIn(*callout, false);
  }
  processing::BodyInterest body(Phase phase) const override {
    if (phase != Phase::kRequestBody || settings_.maxBody == 0) return {};
    return {processing::BodyMode::kBuffered, settings_.maxBody, false, false};
  }
  std::span<const Phase> phases() const override { return phases_; }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override {
    return {&settings_.target, 1};
  }

 private:
  struct AuthCheckState {
    processing::Callout* callout = nullptr;
    std::string outgoing;  // the body of the check, whose first `sent` bytes have been handed to the callout
    std::size_t sent = 0;
  };

  AuthFields& toClient(processing::Call& call) const { return call.shared<AuthFields>(this); }

  std::optional<Verdict> begin(processing::Call& call, const processing::Peer& peer, AuthCheckState& check) const {
    if (call.request.secretControl) {
      return Verdict::fail("the target of the request holds a credential that the server must not see");
    }
    const base::ByteQueue* const body = call.body != nullptr ? &call.body->bytes() : nullptr;
    if (settings_.grpc) {
      check.outgoing = grpcMessage(call, settings_, peer, body);
    } else if (body != nullptr) {
      check.outgoing = body->text();
    }
    if (call.body != nullptr && !call.body->claim(check.outgoing.size())) {
      return Verdict::fail("there is no room for the body of a check", processing::Cause::kNoRoom,
                           "processorBufferTotal");
    }
    const http::RequestHead head = settings_.grpc ? grpcCheck(call) : httpCheck(call, settings_, check.outgoing.size());
    check.callout = &call.callout({settings_.target, head});
    return std::nullopt;
  }

  static void sendMore(AuthCheckState& check) {
    if (check.callout->unsent() > 0 || check.sent == check.outgoing.size()) return;
    const std::string_view piece = std::string_view(check.outgoing).substr(check.sent, kPiece);
    check.sent += piece.size();
    check.callout->send(piece);
    if (check.sent == check.outgoing.size()) check.callout->end();
  }

  /// Adds the fields to the response that the server has set for the client.
  Verdict finish(processing::Call& call) const {
    AuthFields& fields = toClient(call);
    for (const auto& [name, value] : fields) call.response->headers.removeTwins(name);
    for (const auto& [name, value] : fields) {
      call.response->headers.add(call.arena, call.arena.copy(name), call.arena.copy(value));
    }
    return Verdict::goOn();
  }

  const AuthSettings settings_;
  std::vector<Phase> phases_;
};

processing::Made makeExternalAuth(const processing::Use& use) {
  auto settings = AuthSettings::read(use.config);
  if (!settings) return {nullptr, {"InvalidConfig", settings.error().detail}};
  if (use.phase == Phase::kResponseHeaders) {
    return {nullptr, {"InvalidConfig", "phase: must be one of the request, or left out"}};
  }
  if (use.phase == Phase::kRequestHeaders && settings->maxBody > 0) {
    return {nullptr,
            {"InvalidConfig", "forwardBody: must not be given in the phase request-headers, which has no body"}};
  }
  processing::FoundBackend found = use.targets.find(*use.config.find("backendRef"), settings->grpc);
  if (found.target == nullptr) return {nullptr, std::move(found.refusal)};
  settings->target = std::move(found.target);
  return {std::make_shared<const ExternalAuth>(std::move(settings).value()), {}};
}

}  // namespace

processing::BuiltinType externalAuth() {
  muteProtobuf();
  // A use that names no phase is made as one of the first, where it may have a body.
  return {.type = "sluice.dev/ExternalAuth:v1",
          .phases = {Phase::kRequestBody, Phase::kRequestHeaders, Phase::kResponseHeaders},
          .preAuth = false,
          .schema = kExternalAuthSchema,
          .make = makeExternalAuth,
          .spans = true,
          .authorizes = true};
}

}  // namespace sluice::filters

#include "filters/external_auth/grpc_check.h"

#include <chrono>

#include "filters/external_auth/authorization.pb.h"
#include "filters/wire_text.h"
#include "proxy/base/text.h"
#include "proxy/http/field_grammar.h"
#include "proxy/http/grpc.h"
#include "proxy/processing/field_edits.h"
#include "proxy/processing/query_edit.h"

namespace sluice::filters {
namespace {

using processing::Verdict;

/// HeaderAppendAction of envoy.config.core.v3.
enum AppendAction { kUnset, kAddIfAbsent, kOverwriteOrAdd, kOverwriteIfExists };

Verdict breaksRule(std::string_view what) {
  return Verdict::fail("the authorization server's answer " + std::string(what));
}

/// Returns the name in lower case and the value; empty if a field may not have one of them.
std::optional<std::pair<std::string, std::string>> fieldOf(const external_auth::HeaderValue& header) {
  const std::string& value = header.raw_value().empty() ? header.value() : header.raw_value();
  auto name = processing::editableField(header.key());
  if (!name || !http::isFieldValue(value)) return std::nullopt;
  return std::pair(std::move(name).value(), value);
}

template <typename Options>
bool areFields(const Options& options) {
  if (static_cast<std::size_t>(options.size()) > kMostAuthFields) return false;
  for (const auto& option : options) {
    if (!fieldOf(option.header())) return false;
  }
  return true;
}

/// Names that may not be removed are ignored, as in Envoy.
bool isFixed(std::string_view name) { return name.starts_with(':') || base::toLower(name) == "host"; }

bool isPossible(const external_auth::OkHttpResponse& answer) {
  const auto few = [](int count) { return static_cast<std::size_t>(count) <= kMostAuthFields; };
  if (!areFields(answer.headers()) || !areFields(answer.response_headers_to_add())) return false;
  if (!few(answer.headers_to_remove_size()) || !few(answer.query_parameters_to_set_size()) ||
      !few(answer.query_parameters_to_remove_size())) {
    return false;
  }
  for (const std::string& name : answer.headers_to_remove()) {
    if (!isFixed(name) && !processing::editableField(name)) return false;
  }
  return true;
}

void apply(processing::Call& call, const external_auth::HeaderValueOption& option) {
  const auto field = fieldOf(option.header());
  const std::string_view name = call.arena.copy(field->first);
  const std::string_view value = call.arena.copy(field->second);
  const int action = option.append_action();
  const bool exists = call.request.headers.find(name) != nullptr;
  if (action == kAddIfAbsent && exists) return;
  if (action == kOverwriteIfExists && !exists) return;
  const bool appends = option.append().value() && action == kUnset;
  if (!appends) call.edit.removeTwins(name);
  call.edit.add(name, value);
}

Verdict permitEdited(processing::Call& call, const external_auth::OkHttpResponse& answer, AuthFields& toClient) {
  if (!isPossible(answer)) return breaksRule("has a field that no request may have, or too many");
  const bool edits = answer.query_parameters_to_set_size() + answer.query_parameters_to_remove_size() > 0;
  if (edits && !call.request.target.starts_with('/')) return breaksRule("changes the query of a request without one");
  for (const std::string& name : answer.headers_to_remove()) {
    if (!isFixed(name)) call.edit.removeTwins(call.arena.copy(base::toLower(name)));
  }
  for (const auto& option : answer.headers()) apply(call, option);
  for (const std::string& name : answer.query_parameters_to_remove()) {
    call.edit.setParameter(call.arena.copy(name), {}, http::Care::kLook);
  }
  for (const auto& each : answer.query_parameters_to_set()) {
    const std::string text = processing::encodeQuery(each.key()) + "=" + processing::encodeQuery(each.value());
    call.edit.setParameter(call.arena.copy(each.key()), call.arena.copy(text), http::Care::kLook);
  }
  for (const auto& option : answer.response_headers_to_add()) toClient.push_back(*fieldOf(option.header()));
  return Verdict::goOn();
}

/// Fields that an answer may not have are left out, because a denial must take effect whatever failOpen is.
Verdict denyAsSaid(const external_auth::DeniedHttpResponse& answer) {
  AuthFields fields;
  for (const auto& option : answer.headers()) {
    auto field = fieldOf(option.header());
    if (field && fields.size() < kMostAuthFields) fields.push_back(*std::move(field));
  }
  return deny(answer.status().code(), std::move(fields), answer.body());
}

Verdict judge(processing::Call& call, const external_auth::CheckResponse& answer, AuthFields& toClient) {
  return answer.status().code() == 0 ? permitEdited(call, answer.ok_response(), toClient)
                                     : denyAsSaid(answer.denied_response());
}

}  // namespace

http::RequestHead grpcCheck(processing::Call& call) {
  http::RequestHead head;
  head.method = http::Method::kPost;
  head.methodText = "POST";
  head.target = "/envoy.service.auth.v3.Authorization/Check";
  head.body = http::Body::kUntilEnd;
  head.headers.add(call.arena, http::FieldId::kContentType, "application/grpc");
  head.acceptsTrailers = true;
  return head;
}

std::string grpcMessage(const processing::Call& call, const AuthSettings& settings, const processing::Peer& peer,
                        const base::ByteQueue* body) {
  external_auth::CheckRequest check;
  external_auth::AttributeContext& context = *check.mutable_attributes();
  external_auth::Peer& source = *context.mutable_source();
  source.mutable_address()->mutable_socket_address()->set_address(std::string(peer.address));
  source.set_principal(readableText(peer.principal));
  const auto now = call.clock.wallNow().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
  external_auth::Timestamp& time = *context.mutable_request()->mutable_time();
  time.set_seconds(seconds.count());
  time.set_nanos(static_cast<std::int32_t>(std::chrono::nanoseconds(now - seconds).count()));
  external_auth::HttpRequest& http = *context.mutable_request()->mutable_http();
  http.set_method(std::string(call.request.methodText));
  http.set_path(readableText(call.request.openTarget()));
  http.set_host(readableText(call.request.authority));
  http.set_scheme(std::string(http::schemeName(call.request.scheme)));
  http.set_protocol("HTTP/" + std::string(http::versionName(call.request.version)));
  http.set_size(call.request.body == http::Body::kNone ? 0 : -1);
  if (call.request.body == http::Body::kLength) http.set_size(static_cast<std::int64_t>(call.request.contentLength));
  for (const http::Field& field : call.request.headers) {
    if (http::isInjected(field.care) || (!settings.allowed.empty() && !isListed(settings.allowed, field.name)))
      continue;
    std::string& value = (*http.mutable_headers())[std::string(field.name)];
    if (!value.empty()) value += ',';
    value += readableText(field.value);
  }
  if (body != nullptr) {
    std::string text = body->text();
    const bool isText = isUtf8(text);
    (isText ? *http.mutable_body() : *http.mutable_raw_body()) = std::move(text);
  }
  return http::frameGrpcMessage(check.SerializeAsString());
}

std::optional<Verdict> judgeGrpc(processing::Call& call, const processing::Callout& callout, AuthFields& toClient) {
  std::string message;
  const http::GrpcFrame frame = http::readGrpcMessage(callout.received(), kMostAuthAnswer, message);
  if (frame == http::GrpcFrame::kTooLarge || frame == http::GrpcFrame::kCompressed) {
    return breaksRule("is longer than " + std::to_string(kMostAuthAnswer) + " bytes, or compressed");
  }
  if (!callout.over()) return std::nullopt;
  if (callout.head() == nullptr) return breaksRule("is missing");
  const http::GrpcStatus status = http::grpcStatusOf(*callout.head(), callout.trailers());
  if (status.code != 0) {
    return Verdict::fail("the authorization server ends with gRPC status " + std::to_string(status.code));
  }
  external_auth::CheckResponse answer;
  if (frame != http::GrpcFrame::kMessage || !answer.ParseFromString(message)) return breaksRule("is no CheckResponse");
  return judge(call, answer, toClient);
}

}  // namespace sluice::filters

#include "filters/external_auth/http_check.h"

#include "proxy/http/field_grammar.h"

namespace sluice::filters {
namespace {

using http::FieldId;
using processing::Verdict;

/// Returns true for fields that describe the server's answer, and not the request.
bool describesAnswer(const http::Field& field) {
  return field.id == FieldId::kDate || field.id == FieldId::kServer || http::isVia(field.id) ||
         field.id == FieldId::kSetCookie || field.name.starts_with("content-") || field.name == "www-authenticate";
}

bool isOfConnection(const http::Field& field) {
  return http::isReservedField(field.name) || field.id == FieldId::kHost || http::isVia(field.id);
}

/// Copies the server's fields into the request. A listed field comes from the server only, so that a client cannot
/// forge it.
Verdict permit(processing::Call& call, const AuthSettings& settings, const http::Headers& answered) {
  for (const std::string& name : settings.copied) call.edit.removeTwins(call.arena.copy(name));
  const auto isCopied = [&](const http::Field& field) {
    if (isOfConnection(field)) return false;
    return settings.copied.empty() ? !describesAnswer(field) : isListed(settings.copied, field.name);
  };
  if (settings.copied.empty()) {
    for (const http::Field& field : answered) {
      if (isCopied(field)) call.edit.removeTwins(call.arena.copy(field.name));
    }
  }
  for (const http::Field& field : answered) {
    if (isCopied(field)) call.edit.add(call.arena.copy(field.name), call.arena.copy(field.value));
  }
  return Verdict::goOn();
}

/// The field in which servers expect the client's method (oauth2-proxy, Authelia).
constexpr std::string_view kForwardedMethod = "x-forwarded-method";

constexpr int kPermitted = 200;  // the one status that permits
constexpr int kBroken = 500;     // from here on the server has failed, and all others deny

AuthFields fieldsOfDenial(const http::Headers& answered) {
  AuthFields fields;
  for (const http::Field& field : answered) {
    if (!isOfConnection(field) && field.id != FieldId::kDate) fields.emplace_back(field.name, field.value);
  }
  return fields;
}

}  // namespace

http::RequestHead httpCheck(processing::Call& call, const AuthSettings& settings, std::size_t body) {
  const http::RequestHead& request = call.request;
  const bool isTunnel = request.tunnel == http::Tunnel::kStream;
  http::RequestHead head;
  // A server of HTTP takes CONNECT for a request of a tunnel through itself.
  head.method = isTunnel ? http::Method::kGet : request.method;
  head.methodText = isTunnel ? std::string_view("GET") : request.methodText;
  head.authority = request.authority;
  // The targets without a path are "*", that of OPTIONS, and the authority, that of CONNECT.
  const bool hasPath = request.target.starts_with('/');
  head.target = isTunnel ? "/" : request.target;
  if (!settings.prefix.empty()) {
    head.target = call.arena.copy(settings.prefix + (hasPath ? std::string(request.target) : "/"));
  }
  for (const http::Field& field : request.headers) {
    const bool sent = field.id == FieldId::kAuthorization || isListed(settings.allowed, field.name);
    const bool isOurs = isTunnel && field.name == kForwardedMethod;
    if (!sent || isOurs || http::isInjected(field.care)) continue;
    head.headers.add(call.arena, {field.name, field.value, field.id, field.care});
  }
  if (isTunnel) head.headers.add(call.arena, kForwardedMethod, request.methodText);
  head.body = body > 0 ? http::Body::kLength : http::Body::kNone;
  head.contentLength = body;
  return head;
}

std::optional<Verdict> judgeHttp(processing::Call& call, const AuthSettings& settings,
                                 const processing::Callout& callout) {
  const http::ResponseHead* const head = callout.head();
  if (head == nullptr) return std::nullopt;
  if (head->status == kPermitted) return permit(call, settings, head->headers);
  if (head->status >= kBroken) {
    return Verdict::fail("the authorization server answers with status " + std::to_string(head->status));
  }
  const bool isTooLong = callout.received().size() > kMostAuthAnswer;
  if (!callout.over() && !isTooLong) return std::nullopt;
  return denialIn(callout, !isTooLong && !callout.error());
}

std::optional<Verdict> denialIn(const processing::Callout& callout, bool isWhole) {
  const http::ResponseHead* const head = callout.head();
  if (head == nullptr || head->status == kPermitted || head->status >= kBroken) return std::nullopt;
  return deny(head->status, fieldsOfDenial(head->headers), isWhole ? callout.received().text() : std::string());
}

}  // namespace sluice::filters

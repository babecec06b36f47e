#include "proxy/routing/policy/cors.h"

#include <algorithm>
#include <charconv>

#include "proxy/http/hygiene.h"

namespace sluice::routing {
namespace {

constexpr std::string_view kOrigin = "origin";
constexpr std::string_view kRequestMethod = "access-control-request-method";
constexpr std::string_view kRequestHeaders = "access-control-request-headers";

/// Returns the value of the one line of that name; empty if there is none, or more than one.
std::string_view onlyValue(const http::Headers& headers, std::string_view name) {
  const http::Field* found = nullptr;
  for (const http::Field& field : headers) {
    if (field.name != name) continue;
    if (found != nullptr) return {};
    found = &field;
  }
  return found != nullptr ? found->value : std::string_view();
}

/// Returns true for a value that may be echoed: a list of field names as browsers send it, or a method; never the
/// wildcard, which would allow more.
bool isNameList(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return c == ',' || c == ' ' || (c != '*' && http::isFieldName({&c, 1}));
  });
}

/// Returns true for any serialized origin, of whatever scheme; for "null" too.
bool isEchoable(std::string_view origin) {
  return !origin.empty() && std::all_of(origin.begin(), origin.end(), [](char c) {
    return c > ' ' && c <= '~' && std::string_view("\"',;<>\\`").find(c) == std::string_view::npos;
  });
}

bool fits(const OriginPattern& pattern, const Origin& origin) {
  if (pattern.https != origin.https || pattern.port != origin.port) return false;
  if (!pattern.wildcard) return http::equalsIgnoreCase(origin.host, pattern.host);
  return origin.host.size() > pattern.host.size() &&
         http::equalsIgnoreCase(origin.host.substr(origin.host.size() - pattern.host.size()), pattern.host);
}

void varyByOrigin(base::Arena& arena, http::Headers& answer) {
  for (const http::Field& field : answer) {
    if (field.name != "vary") continue;
    if (http::listHasToken(field.value, "*") || http::listHasToken(field.value, kOrigin)) return;
  }
  answer.add(arena, "vary", "origin");
}

/// Returns the names of all fields that a script may be allowed to read. Requests with credentials need them, because
/// "*" is then a name like any other.
std::string_view exposableNames(base::Arena& arena, const http::Headers& headers) {
  std::string names;
  for (const http::Field* field = headers.begin(); field != headers.end(); ++field) {
    const auto same = [field](const http::Field& other) { return other.name == field->name; };
    if (field->id == http::FieldId::kSetCookie || std::any_of(headers.begin(), field, same)) continue;
    if (!names.empty()) names += ", ";
    names += field->name;
  }
  return arena.copy(names);
}

}  // namespace

bool isPreflight(const http::RequestHead& request) {
  return request.method == http::Method::kOptions && !onlyValue(request.headers, kOrigin).empty() &&
         http::isFieldName(announcedMethod(request));
}

std::string_view announcedMethod(const http::RequestHead& preflight) {
  return onlyValue(preflight.headers, kRequestMethod);
}

bool Origin::read(std::string_view text) {
  https = text.starts_with("https://");
  if (!https && !text.starts_with("http://")) return false;
  text.remove_prefix(text.find("://") + 3);
  port = https ? 443 : 80;
  // The colons of an IPv6 address are inside of brackets.
  const std::size_t colon = text.find(':', text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0);
  host = text.substr(0, colon);
  if (host.empty() || host.find_first_of("/?#@") != std::string_view::npos) return false;
  if (colon == std::string_view::npos) return true;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, port);
  return error == std::errc() && last == end && port != 0;
}

bool Cors::allows(std::string_view origin) const {
  if (!isEchoable(origin)) return false;
  if (anyOrigin) return true;
  Origin asking;
  return asking.read(origin) && std::any_of(origins.begin(), origins.end(),
                                            [&](const OriginPattern& pattern) { return fits(pattern, asking); });
}

void Cors::apply(base::Arena& arena, const http::RequestHead& request, http::Headers& answer) const {
  answer.removeIf([](const http::Field& field) { return field.name.starts_with("access-control-"); });
  const std::string_view origin = onlyValue(request.headers, kOrigin);
  if (allows(origin)) admit(arena, request, origin, answer);
  varyByOrigin(arena, answer);
}

void Cors::admit(base::Arena& arena, const http::RequestHead& request, std::string_view origin,
                 http::Headers& answer) const {
  addExposed(arena, request, answer);
  answer.add(arena, "access-control-allow-origin", origin);
  if (credentials) answer.add(arena, "access-control-allow-credentials", "true");
  if (isPreflight(request)) addPreflight(arena, request, answer);
}

void Cors::addPreflight(base::Arena& arena, const http::RequestHead& request, http::Headers& answer) const {
  const std::string_view announced = announcedMethod(request);
  const std::string_view methods = !anyMethod ? std::string_view(allowMethods) : isNameList(announced) ? announced : "";
  if (!methods.empty()) answer.add(arena, "access-control-allow-methods", methods);
  const std::string_view asked = onlyValue(request.headers, kRequestHeaders);
  const std::string_view names = !anyHeader ? std::string_view(allowHeaders) : isNameList(asked) ? asked : "";
  if (!names.empty()) answer.add(arena, "access-control-allow-headers", names);
  answer.add(arena, "access-control-max-age", maxAge);
}

void Cors::addExposed(base::Arena& arena, const http::RequestHead& request, http::Headers& answer) const {
  const bool named = exposeAll && credentials;
  if (named && isPreflight(request)) return;  // its answer has no field that a script could read
  const std::string_view names = named ? exposableNames(arena, answer) : std::string_view(exposeHeaders);
  if (!names.empty()) answer.add(arena, "access-control-expose-headers", names);
}

}  // namespace sluice::routing

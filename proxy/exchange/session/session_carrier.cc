#include "proxy/exchange/session/session_carrier.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "proxy/http/grammar.h"

namespace sluice::exchange {
namespace {

// A browser may hold one cookie for each Path. Each costs a decryption, so only a few are looked at.
constexpr std::size_t kMostValues = 4;

struct Found {
  const routing::SessionPolicy& policy;
  const std::size_t valueSize;
  std::vector<std::string_view> values;

  void add(std::string_view value) {
    if (value.size() == valueSize && values.size() < kMostValues) values.push_back(value);
  }
};

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// Returns the cookies of a field without those of the policy; nullopt if it has none of the policy's.
std::optional<std::string> withoutSession(std::string_view field, Found& found) {
  std::string rest;
  bool any = false;
  while (!field.empty()) {
    const std::string_view cookie = field.substr(0, field.find(';'));
    field.remove_prefix(std::min(field.size(), cookie.size() + 1));
    const std::string_view pair = http::trimSpace(cookie);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && http::trimSpace(pair.substr(0, equals)) == found.policy.name) {
      found.add(unquoted(http::trimSpace(pair.substr(equals + 1))));
      any = true;
    } else if (!pair.empty()) {
      rest.append(rest.empty() ? "" : "; ").append(pair);
    }
  }
  if (!any) return std::nullopt;
  return rest;
}

void takeCookies(base::Arena& arena, http::Headers& headers, Found& found) {
  http::Headers kept;
  kept.reserve(arena, headers.size());
  for (const http::Field& field : headers) {
    const auto rest =
        field.id == http::FieldId::kCookie ? withoutSession(field.value, found) : std::optional<std::string>();
    if (!rest) {
      kept.add(arena, field);
    } else if (!rest->empty()) {
      http::Field changed = field;
      changed.value = arena.copy(*rest);
      kept.add(arena, changed);
    }
  }
  headers = kept;
}

void takeSession(base::Arena& arena, http::Headers& headers, Found& found) {
  if (found.policy.byHeader) {
    headers.removeIf([&](const http::Field& field) {
      if (field.name != found.policy.name) return false;
      found.add(field.value);
      return true;
    });
  } else if (headers.find(http::FieldId::kCookie) != nullptr) {
    takeCookies(arena, headers, found);
  }
}

std::string cookie(const routing::SessionPolicy& policy, std::string_view value, const SessionTerms& terms) {
  std::string text = policy.name + "=";
  text.append(value).append("; Path=").append(policy.cookiePath(terms.requestPath));
  text += "; HttpOnly; SameSite=Strict";
  if (terms.secure) text += "; Secure";
  if (policy.permanent) {
    const base::Duration left = std::max(*policy.absoluteTimeout - terms.age, base::Duration::zero());
    text += "; Max-Age=" + std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count());
  }
  return text;
}

}  // namespace

std::vector<std::string_view> takeSessions(const routing::SessionPolicy& policy, std::size_t valueSize,
                                           http::RequestMessage& request) {
  Found found{policy, valueSize, {}};
  takeSession(request.arena, request.head.headers, found);
  return std::move(found.values);
}

void removeSessions(const routing::SessionPolicy& policy, base::Arena& arena, http::Headers& headers) {
  Found found{policy, 0, {}};
  takeSession(arena, headers, found);
}

void addSession(const routing::SessionPolicy& policy, std::string_view value, const SessionTerms& terms,
                http::ResponseMessage& response) {
  http::Headers& headers = response.head.headers;
  if (policy.byHeader) {
    headers.set(response.arena, policy.name, response.arena.copy(value));
  } else {
    headers.add(response.arena, http::FieldId::kSetCookie, response.arena.copy(cookie(policy, value, terms)));
  }
}

}  // namespace sluice::exchange

#include "proxy/routing/request_hash.h"

#include <algorithm>

#include "proxy/base/hashing/stable_hash.h"
#include "proxy/http/grammar.h"
#include "proxy/routing/table/predicates.h"

namespace sluice::routing {
namespace {

/// Returns the value of the first cookie of that name (RFC 6265 section 4.2.1).
std::optional<std::string_view> cookieOf(const http::Headers& headers, std::string_view name) {
  for (const http::Field& field : headers) {
    if (field.id != http::FieldId::kCookie) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::string_view cookie = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), cookie.size() + 1));
      const std::string_view pair = http::trimSpace(cookie);
      const std::size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> requestHash(const base::LoadBalancing& terms, const http::RequestHead& head,
                                         std::string_view client) {
  if (terms.source == base::HashSource::kNone || terms.source == base::HashSource::kCookie) return std::nullopt;
  if (terms.source == base::HashSource::kSourceIp) return base::stableHash(client);
  if (terms.source == base::HashSource::kClientCookie) {
    const std::optional<std::string_view> value = cookieOf(head.headers, terms.names.front());
    return value ? std::optional(base::stableHash(*value)) : std::nullopt;
  }
  const PredicateKind kind = terms.source == base::HashSource::kHeader ? PredicateKind::kHeader : PredicateKind::kQuery;
  std::optional<std::uint64_t> hash;
  ValueBuffer buffer;
  for (const std::string& name : terms.names) {
    // The place of a value counts, too: otherwise two fields could exchange their values.
    const std::optional<std::string_view> value = valueOf(head, kind, name, buffer);
    if (value) hash = base::stableHash(*value, hash.value_or(0) + static_cast<std::uint64_t>(&name - &terms.names[0]));
  }
  return hash;
}

}  // namespace sluice::routing

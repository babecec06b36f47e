#include "proxy/exchange/transaction/forwarded.h"

#include <cstddef>
#include <string>

#include "proxy/http/grammar.h"
#include "proxy/net/address.h"

namespace sluice::exchange {
namespace {

using base::ForwardedHeaders;
using http::FieldId;

constexpr std::string_view kPrefix = "x-forwarded-";

template <typename Visit>
void forEachHop(const http::Headers& headers, Visit&& visit) {
  for (const http::Field& field : headers) {
    if (field.id == FieldId::kXForwardedFor) http::forEachListElement(field.value, visit);
  }
}

/// Returns the client that the outermost of the trusted proxies has seen. Each of these proxies has appended one
/// address, and the last one is `peer`. Empty if they have not.
std::string_view clientBehind(const http::Headers& headers, std::size_t trustedHops) {
  std::size_t known = 0;
  forEachHop(headers, [&](std::string_view) { ++known; });
  if (trustedHops == 0 || known < trustedHops) return {};
  std::string_view client;
  std::size_t number = 0;
  forEachHop(headers, [&](std::string_view hop) {
    if (number++ == known - trustedHops) client = hop;
  });
  return net::Address::parse(client, 0) ? client : std::string_view();
}

/// Returns the whole chain. Its readers know how many of its last members they can trust.
std::string chainTo(const http::Headers& headers, std::string_view peer) {
  std::string chain;
  forEachHop(headers, [&](std::string_view hop) { chain.append(hop).append(", "); });
  return chain.append(peer);
}

/// Returns the value of the only such field; empty if there is none, or several.
std::string_view onlyValue(const http::Headers& headers, FieldId id) {
  std::string_view value;
  for (const http::Field& field : headers) {
    if (field.id != id) continue;
    if (!value.empty()) return {};
    value = field.value;
  }
  return value;
}

bool isWebScheme(std::string_view text) { return text == "http" || text == "https"; }

}  // namespace

bool isForwardedTwin(const http::Field& field) {
  return http::areTwins(field.name.substr(0, kPrefix.size()), kPrefix) || http::areTwins(field.name, "x-real-ip");
}

void replaceForwarded(base::Arena& arena, http::Headers& headers, const base::ForwardedSettings& settings,
                      std::string_view client, bool secure, std::string_view authority) {
  const bool appends = settings.mode == ForwardedHeaders::kAppend;
  const bool trusted = settings.trustedHops > 0;
  const std::string_view behind = appends ? std::string_view() : clientBehind(headers, settings.trustedHops);
  const std::string addresses = appends ? chainTo(headers, client) : std::string(behind);
  const std::string_view scheme = trusted ? onlyValue(headers, FieldId::kXForwardedProto) : std::string_view();
  const std::string_view host = trusted ? onlyValue(headers, FieldId::kXForwardedHost) : std::string_view();
  headers.removeIf(isForwarded);
  headers.add(arena, FieldId::kXForwardedFor, arena.copy(addresses.empty() ? client : addresses));
  headers.add(arena, FieldId::kXForwardedProto, isWebScheme(scheme) ? scheme : secure ? "https" : "http");
  const std::string_view asked = host.empty() ? authority : host;
  if (!asked.empty()) headers.add(arena, FieldId::kXForwardedHost, asked);
}

}  // namespace sluice::exchange

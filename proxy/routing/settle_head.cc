#include "proxy/routing/settle_head.h"

#include <string_view>

#include "proxy/http/target.h"

namespace sluice::routing {
namespace {

/// Returns the authority without its port.
std::string_view withoutPort(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  const std::size_t bracket = authority.rfind(']');  // the end of an IPv6 address, which has colons of its own
  const bool hasPort = colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
  return hasPort ? authority.substr(0, colon) : authority;
}

base::Status settlePath(base::Arena& arena, http::RequestHead& head, const http::SlashRules& rules) {
  if (head.unusualSlashes) {
    const auto target = http::normalizeTarget(arena, head.target, rules);
    if (!target) return target.error();
    head.target = target->text;
  }
  if (rules.forwardsNormalForm || head.sentPath == head.path()) head.sentPath = {};
  return base::Done{};
}

}  // namespace

std::optional<base::Error> settleUnusualHead(base::Arena& arena, http::RequestHead& head, const RouteTable& routes) {
  if (head.namesNoDestination) {
    return base::Error::badRequest(
        400, "a forward proxy takes requests in absolute form, as in GET http://host/path, or CONNECT");
  }
  if (routes.stripsPorts() && routes.stripsPort(head.authority)) head.authority = withoutPort(head.authority);
  if (head.unusualSlashes || !head.sentPath.empty()) {
    const base::Status settled = settlePath(arena, head, routes.slashRules(head.authority));
    if (!settled.ok()) return settled.error();
  }
  if (!http::countsForwards(head.method)) return std::nullopt;
  const base::Status counted = http::countForwards(arena, head);
  if (!counted.ok()) return counted.error();
  if (head.method == http::Method::kTrace && head.forwardsSpent) {
    return base::Error::badRequest(501, "TRACE is not answered here");
  }
  return std::nullopt;
}

}  // namespace sluice::routing

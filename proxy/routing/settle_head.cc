#include "proxy/routing/settle_head.h"

#include "proxy/http/target.h"

namespace sluice::routing {

std::optional<base::Error> settleUnusualHead(base::Arena& arena, http::RequestHead& head, const RouteTable& routes) {
  if (head.unusualSlashes) {
    const auto target = http::normalizeTarget(arena, head.target, routes.slashRules(head.authority));
    if (!target) return target.error();
    head.target = target->text;
  }
  if (!http::countsForwards(head.method)) return std::nullopt;
  const base::Status counted = http::countForwards(arena, head);
  if (!counted.ok()) return counted.error();
  if (head.method == http::Method::kTrace && http::endsHere(head)) {
    return base::Error::badRequest(501, "TRACE is not answered here");
  }
  return std::nullopt;
}

}  // namespace sluice::routing

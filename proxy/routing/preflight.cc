#include "proxy/routing/preflight.h"

#include <algorithm>

#include "proxy/routing/policy/cors.h"

namespace sluice::routing {
namespace {

bool answersPreflights(const Rule& rule) {
  return rule.cors != nullptr || std::any_of(rule.backends.begin(), rule.backends.end(),
                                             [](const WeightedBackend& share) { return share.cors != nullptr; });
}

}  // namespace

http::RequestHead announcedRequest(const http::RequestHead& preflight) {
  http::RequestHead announced = preflight;
  announced.methodText = announcedMethod(preflight);
  announced.method = http::methodFrom(announced.methodText);
  return announced;
}

RouteMatch matchUnusual(const RouteTable& routes, const http::RequestHead& head, std::string_view serverName) {
  if (head.method == http::Method::kConnect) return routes.matchConnect(head);
  if (isPreflight(head)) {
    const RouteMatch match = routes.match(announcedRequest(head), serverName);
    if (match.rule != nullptr && answersPreflights(*match.rule)) return match;
  }
  return routes.match(head, serverName);
}

}  // namespace sluice::routing

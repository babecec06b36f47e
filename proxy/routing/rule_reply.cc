#include "proxy/routing/rule_reply.h"

#include "proxy/http/authority.h"
#include "proxy/http/grpc.h"

namespace sluice::routing {
namespace {

const Redirect* redirectOf(const AppliedFilters& filters) {
  if (filters.rule.redirect) return &*filters.rule.redirect;
  return filters.backend != nullptr && filters.backend->redirect ? &*filters.backend->redirect : nullptr;
}

bool asks(const http::RequestHead& request, const Cors* cors) {
  return cors != nullptr && request.method == http::Method::kOptions && isPreflight(request);
}

void addLocation(base::Arena& arena, const http::RequestHead& request, const AppliedFilters& filters,
                 std::uint16_t listenerPort, http::ResponseHead& head) {
  const Redirect& redirect = *redirectOf(filters);
  head.status = redirect.status;
  head.headers.add(arena, "location", redirect.location(arena, request, listenerPort));
  head.contentLength = 0;
}

}  // namespace

std::optional<base::Error> refusalOf(const http::RequestHead& request, const RouteMatch& match) {
  if (match.rule == nullptr) {
    const auto type = match.misdirected ? base::ErrorType::kMisdirectedRequest : base::ErrorType::kDestinationNotFound;
    return base::Error(type, base::ErrorOrigin::kDownstream, match.reason);
  }
  if (match.rule->grpc && !http::speaksGrpc(request)) {
    return base::Error::badRequest(415, "the route for this request takes gRPC over HTTP/2 only");
  }
  if (match.rule->failure) return *match.rule->failure;
  return std::nullopt;
}

bool repliesLocally(const http::RequestHead& request, const Rule& rule) {
  if (rule.isRest && rule.backends.empty()) return false;
  return rule.redirect || asks(request, rule.cors.get()) ||
         (request.method == http::Method::kOptions && request.forwardsSpent);
}

bool repliesLocally(const http::RequestHead& request, const WeightedBackend& backend) {
  return backend.redirect || asks(request, backend.cors.get());
}

std::uint16_t redirectPort(const ServedListener& listener, const http::RequestHead& request) {
  if (!listener.forwardProxy) return listener.port;
  const std::uint16_t named = http::portOf(request.authority);
  if (named != 0) return named;
  return http::usualPort(request.scheme);
}

http::ResponseHead ruleReply(base::Arena& arena, const http::RequestHead& request, const AppliedFilters& filters,
                             std::uint16_t listenerPort) {
  http::ResponseHead head;
  head.version = request.version;
  // A preflight comes first, because no browser follows a redirect of it (Fetch, "CORS-preflight fetch").
  if (asks(request, corsOf(filters)) || redirectOf(filters) == nullptr) {
    head.status = 204;
  } else {
    addLocation(arena, request, filters, listenerPort, head);
  }
  finishHead(arena, request, filters, head.headers);
  return head;
}

}  // namespace sluice::routing

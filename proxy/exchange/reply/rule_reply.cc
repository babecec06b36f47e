#include "proxy/exchange/reply/rule_reply.h"

#include "proxy/http/max_forwards.h"

namespace sluice::exchange {
namespace {

const routing::Redirect* redirectOf(const AppliedFilters& filters) {
  if (filters.rule.redirect) return &*filters.rule.redirect;
  return filters.backend != nullptr && filters.backend->redirect ? &*filters.backend->redirect : nullptr;
}

bool asks(const http::RequestHead& request, const routing::Cors* cors) {
  return cors != nullptr && request.method == http::Method::kOptions && routing::isPreflight(request);
}

void addLocation(base::Arena& arena, const http::RequestHead& request, const AppliedFilters& filters,
                 std::uint16_t listenerPort, http::ResponseHead& head) {
  const routing::Redirect& redirect = *redirectOf(filters);
  head.status = redirect.status;
  head.headers.add(arena, "location", redirect.location(arena, request, listenerPort));
  head.contentLength = 0;
}

}  // namespace

bool repliesLocally(const http::RequestHead& request, const routing::Rule& rule) {
  return rule.redirect || asks(request, rule.cors.get()) ||
         (request.method == http::Method::kOptions && http::endsHere(request));
}

bool repliesLocally(const http::RequestHead& request, const routing::WeightedBackend& backend) {
  return backend.redirect || asks(request, backend.cors.get());
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

}  // namespace sluice::exchange

#include "proxy/exchange/transaction/attempt_head.h"

#include <string_view>

#include "proxy/exchange/transaction/forwarded.h"
#include "proxy/routing/backend_dial.h"

namespace sluice::exchange {
namespace {

/// If a rule or a weighted backend both sets Host as a header and rewrites the hostname, the rewrite wins.
void applyAuthority(const base::Box<routing::HeaderEdit>& edit, const routing::UrlRewrite& rewrite,
                    http::RequestHead& head) {
  if (edit && !edit->authority.empty()) head.authority = edit->authority;
  if (!rewrite.authority.empty()) head.authority = rewrite.authority;
}

}  // namespace

http::RequestHead attemptHead(base::Arena& arena, const http::RequestHead& request, const routing::Rule& rule,
                              const routing::WeightedBackend& backend, const routing::BackendPlan& destination,
                              const GatewayIdentity& identity, const ForwardedClient& client, RuleFilters filters) {
  http::RequestHead head = request;
  head.headers = request.headers.copy(arena);
  if (filters == RuleFilters::kPending) {
    writeForwarded(arena, head.headers, identity.forwarded, client.address, client.secure, head.authority);
    if (rule.requestHeaders) rule.requestHeaders->apply(arena, head.headers);
  }
  if (!destination.endpoints || head.authority.empty()) {
    // The plan of a destination that the request has named may go before the request.
    head.authority = destination.requestedOf != nullptr ? arena.copy(destination.authority)
                                                        : std::string_view(destination.authority);
  }
  // The expectation is passed on to one Backend alone, when the request is sent there (passesExpectation()).
  head.expectContinue = false;
  applyAuthority(rule.requestHeaders, rule.rewrite, head);
  if (backend.requestHeaders) backend.requestHeaders->apply(arena, head.headers);
  applyAuthority(backend.requestHeaders, backend.rewrite, head);
  head.target = routing::attemptTarget(arena, request, rule, backend);
  if (!head.sentPath.empty() && routing::rewritesPath(rule, backend)) head.sentPath = {};
  addVia(arena, destination, identity, head);
  return head;
}

}  // namespace sluice::exchange

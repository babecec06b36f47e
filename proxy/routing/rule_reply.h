// Makes the replies that need only a rule and its weighted backend: redirects, answers to CORS preflights, answers to
// OPTIONS whose Max-Forwards is used up, and refusals. The filters of both also edit the head of every other reply.
//
// Pure functions; views are into the arena and the rule, which the exchange keeps.
#pragma once

#include <optional>

#include "proxy/base/arena.h"
#include "proxy/base/error.h"
#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

/// The filters that apply to one request.
struct AppliedFilters {
  const Rule& rule;
  const WeightedBackend* backend;  // null if none is chosen
};

/// Returns the CORS policy of the weighted backend, or else that of the rule; nullptr if neither has one.
inline const Cors* corsOf(const AppliedFilters& filters) {
  return filters.backend != nullptr && filters.backend->cors ? filters.backend->cors.get() : filters.rule.cors.get();
}

/// Returns the answer to a request that has found no rule (404, 421), or whose rule refuses it: 415 for a request that
/// is not gRPC, or the rule's own failure.
std::optional<base::Error> refusalOf(const http::RequestHead& request, const RouteMatch& match);

/// Return true if the request goes to no backend, because it is redirected, is a CORS preflight, or has come to the end
/// of its Max-Forwards. The rule is asked first, then the weighted backend that was chosen.
bool repliesLocally(const http::RequestHead& request, const Rule& rule);
bool repliesLocally(const http::RequestHead& request, const WeightedBackend& backend);

/// Returns the port of a redirect that names none: that of the listener, and at a forward proxy that of the target,
/// where the listener's port means nothing.
std::uint16_t redirectPort(const ServedListener& listener, const http::RequestHead& request);

/// Returns the head of the reply to such a request. The reply has no body.
http::ResponseHead ruleReply(base::Arena& arena, const http::RequestHead& request, const AppliedFilters& filters,
                             std::uint16_t listenerPort);

/// Applies the filters to a final head: the edits of the rule, then those of the weighted backend, then the CORS
/// policy.
inline void finishHead(base::Arena& arena, const http::RequestHead& request, const AppliedFilters& filters,
                       http::Headers& headers) {
  if (filters.rule.responseHeaders) filters.rule.responseHeaders->apply(arena, headers);
  if (filters.backend != nullptr && filters.backend->responseHeaders)
    filters.backend->responseHeaders->apply(arena, headers);
  if (const Cors* cors = corsOf(filters)) cors->apply(arena, request, headers);
}
/// Applies the CORS policy to the head of an error, which other origins may read, too. No other filter applies to
/// errors.
inline void finishErrorHead(base::Arena& arena, const http::RequestHead& request, const AppliedFilters& filters,
                            http::Headers& headers) {
  if (const Cors* cors = corsOf(filters)) cors->apply(arena, request, headers);
}

}  // namespace sluice::routing

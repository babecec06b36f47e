// What a rule and its share say to a client themselves: answers that need no backend, and edits of every answer's head.
//
// Values in, values out: views are into the arena and the rule, which the exchange keeps.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// What applies to one request.
struct Filters {
  const routing::Rule& rule;
  const routing::WeightedBackend* share;  // null: none is chosen
};

/// What the share says of other origins replaces what the rule says; nullptr: nothing is said.
inline const routing::Cors* corsOf(const Filters& filters) {
  return filters.share != nullptr && filters.share->cors ? filters.share->cors.get() : filters.rule.cors.get();
}

/// The request goes to no backend: it is redirected, or a browser's question about a request from another origin. First
/// the rule is asked, then the share that was chosen.
bool answersItself(const http::RequestHead& request, const routing::Rule& rule);
bool answersItself(const http::RequestHead& request, const routing::WeightedBackend& share);

/// Then, the head of the answer, which has no body.
http::ResponseHead ownAnswer(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                             const routing::RedirectFrom& from);

/// The filters' edits of a final head: the rule's, then the share's; then what they say of other origins.
inline void finishHead(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                       http::Headers& headers) {
  if (filters.rule.responseHeaders) filters.rule.responseHeaders->apply(arena, headers);
  if (filters.share != nullptr && filters.share->responseHeaders) filters.share->responseHeaders->apply(arena, headers);
  if (const routing::Cors* cors = corsOf(filters)) cors->apply(arena, request, headers);
}
/// Other origins may read errors too; nothing else of the filters is for those.
inline void finishErrorHead(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                            http::Headers& headers) {
  if (const routing::Cors* cors = corsOf(filters)) cors->apply(arena, request, headers);
}

}  // namespace sluice::exchange

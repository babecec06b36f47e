#include "proxy/exchange/own_answer.h"

namespace sluice::exchange {
namespace {

const routing::Redirect* redirectOf(const Filters& filters) {
  if (filters.rule.redirect) return &*filters.rule.redirect;
  return filters.share != nullptr && filters.share->redirect ? &*filters.share->redirect : nullptr;
}

}  // namespace

bool answersItself(const Filters& filters) { return redirectOf(filters) != nullptr; }

http::ResponseHead ownAnswer(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                             bool secure) {
  const routing::Redirect& redirect = *redirectOf(filters);
  http::ResponseHead head;
  head.status = redirect.status;
  head.version = request.version;
  head.headers.add(arena, "location", redirect.location(arena, request, {secure, filters.rule.listenerPort}));
  head.contentLength = 0;
  finishHead(arena, filters, head.headers);
  return head;
}

void finishHead(base::Arena& arena, const Filters& filters, http::Headers& headers) {
  filters.rule.responseHeaders.apply(arena, headers);
  if (filters.share != nullptr) filters.share->responseHeaders.apply(arena, headers);
}

}  // namespace sluice::exchange

#include "proxy/exchange/own_answer.h"

namespace sluice::exchange {
namespace {

const routing::Redirect* redirectOf(const Filters& filters) {
  if (filters.rule.redirect) return &*filters.rule.redirect;
  return filters.share != nullptr && filters.share->redirect ? &*filters.share->redirect : nullptr;
}

bool answersPreflight(const http::RequestHead& request, const Filters& filters) {
  return request.method == http::Method::kOptions && corsOf(filters) != nullptr && routing::isPreflight(request);
}

void addLocation(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                 const routing::RedirectFrom& from, http::ResponseHead& head) {
  const routing::Redirect& redirect = *redirectOf(filters);
  head.status = redirect.status;
  head.headers.add(arena, "location", redirect.location(arena, request, from));
  head.contentLength = 0;
}

}  // namespace

bool answersItself(const http::RequestHead& request, const Filters& filters) {
  return redirectOf(filters) != nullptr || answersPreflight(request, filters);
}

http::ResponseHead ownAnswer(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                             const routing::RedirectFrom& from) {
  http::ResponseHead head;
  head.version = request.version;
  // First: no browser follows a redirect of its question (Fetch, "CORS-preflight fetch").
  if (answersPreflight(request, filters)) {
    head.status = 204;
  } else {
    addLocation(arena, request, filters, from, head);
  }
  finishHead(arena, request, filters, head.headers);
  return head;
}

}  // namespace sluice::exchange

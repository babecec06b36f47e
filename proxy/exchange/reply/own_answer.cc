#include "proxy/exchange/reply/own_answer.h"

namespace sluice::exchange {
namespace {

const routing::Redirect* redirectOf(const Filters& filters) {
  if (filters.rule.redirect) return &*filters.rule.redirect;
  return filters.share != nullptr && filters.share->redirect ? &*filters.share->redirect : nullptr;
}

bool asks(const http::RequestHead& request, const routing::Cors* cors) {
  return cors != nullptr && request.method == http::Method::kOptions && routing::isPreflight(request);
}

void addLocation(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                 const routing::RedirectFrom& from, http::ResponseHead& head) {
  const routing::Redirect& redirect = *redirectOf(filters);
  head.status = redirect.status;
  head.headers.add(arena, "location", redirect.location(arena, request, from));
  head.contentLength = 0;
}

}  // namespace

bool answersItself(const http::RequestHead& request, const routing::Rule& rule) {
  return rule.redirect || asks(request, rule.cors.get());
}

bool answersItself(const http::RequestHead& request, const routing::WeightedBackend& share) {
  return share.redirect || asks(request, share.cors.get());
}

http::ResponseHead ownAnswer(base::Arena& arena, const http::RequestHead& request, const Filters& filters,
                             const routing::RedirectFrom& from) {
  http::ResponseHead head;
  head.version = request.version;
  // A preflight comes first, because no browser follows a redirect of it (Fetch, "CORS-preflight fetch").
  if (asks(request, corsOf(filters))) {
    head.status = 204;
  } else {
    addLocation(arena, request, filters, from, head);
  }
  finishHead(arena, request, filters, head.headers);
  return head;
}

}  // namespace sluice::exchange

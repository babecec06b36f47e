#include "config/read/routes/route_readers.h"

namespace sluice::config {
namespace {

void readRouteTimeouts(FieldReader& timeouts, HttpRouteRule& rule) {
  timeouts.read("request", rule.requestTimeout);
  timeouts.read("backendRequest", rule.backendRequestTimeout);
  const base::Duration request = rule.requestTimeout.value_or(base::Duration::zero());
  if (request > base::Duration::zero() && rule.backendRequestTimeout.value_or(request) > request) {
    timeouts.error("backendRequest", "must not be longer than request");
  }
}

/// Checks that there is exactly one prefix to replace (HTTPRouteRule's validation).
void checkPrefixRewrites(ObjectContext& context, const HttpRouteRule& rule) {
  const bool onePrefix = rule.matches.size() == 1 && rule.matches.front().path.type == PathMatchType::kPathPrefix;
  const auto check = [&](const auto& filter) {
    if (rule.matches.empty() || onePrefix || !filter || !filter->path) return;
    if (filter->path->type != PathModifierType::kReplacePrefixMatch) return;
    context.error(filter->path->position, filter->path->path,
                  "ReplacePrefixMatch needs a rule with exactly one match, of type PathPrefix");
  };
  const auto checkBoth = [&](const RouteFilters& filters) {
    check(filters.urlRewrite);
    check(filters.requestRedirect);
  };
  checkBoth(rule.filters);
  for (const HttpBackendRef& ref : rule.backendRefs) checkBoth(ref.filters);
}

void readHttpRule(FieldReader& reader, HttpRouteRule& rule) {
  readMatches(reader, readHttpMatch, rule);
  readRuleParts(reader, FilterSet::kHttp, rule);
  checkPrefixRewrites(reader.context(), rule);
  if (rule.filters.requestRedirect && !rule.backendRefs.empty()) {
    reader.error("backendRefs", "must not be given together with a RequestRedirect filter");
  }
  FieldReader timeouts = reader.map("timeouts");
  readRouteTimeouts(timeouts, rule);
  timeouts.finish();
  reader.read("retry", rule.retry, readRetry);
  finishRule(reader, rule);
}

}  // namespace

bool readHttpRoute(FieldReader& spec, HttpRoute& route) { return readRoute(spec, readHttpRule, route); }

}  // namespace sluice::config

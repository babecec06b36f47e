#include <algorithm>

#include "config/object_readers.h"
#include "config/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxParentRefs = 32;
constexpr std::size_t kMaxHostnames = 16;
constexpr std::size_t kMaxRules = 16;
constexpr std::size_t kMaxMatchesOfRoute = 128;
constexpr std::size_t kMaxBackendRefs = 16;
constexpr std::int64_t kMaxWeight = 1000000;

bool sameParent(const ParentRef& a, const ParentRef& b) {
  return a.object.group == b.object.group && a.object.kind == b.object.kind &&
         a.object.nameSpace == b.object.nameSpace && a.object.name == b.object.name;
}

/// Two references to one parent must each say which part of it they mean, and not the same.
void checkParentRef(FieldReader& reader, const ParentRef& ref, const std::vector<ParentRef>& others) {
  for (const ParentRef& other : others) {
    if (!sameParent(ref, other)) continue;
    const auto names = [](const ParentRef& parent) { return !parent.sectionName.empty() || parent.port != 0; };
    if (!names(ref) || !names(other)) {
      reader.error("name", "refers to one parent twice: each needs a sectionName or port, see " + other.object.path);
    } else if (ref.sectionName == other.sectionName && ref.port == other.port) {
      reader.error("name", "repeats " + other.object.path);
    }
  }
}

std::vector<ParentRef> readParentRefs(FieldReader& spec) {
  std::vector<ParentRef> refs;
  for (const Item& item : spec.list("parentRefs", kMaxParentRefs)) {
    const std::size_t errors = spec.context().errors();
    FieldReader reader = spec.map(item);
    ParentRef ref;
    ref.object = readObjectRef(reader, {kGatewayGroup, "Gateway"}, true);
    ref.sectionName = reader.text("sectionName", rule::kSectionName);
    ref.port = reader.port("port");
    checkParentRef(reader, ref, refs);
    reader.finish();
    if (spec.context().errors() == errors) refs.push_back(std::move(ref));
  }
  return refs;
}

HttpBackendRef readBackendRef(FieldReader reader) {
  HttpBackendRef ref;
  ref.object = readObjectRef(reader, {"", "Service"}, true);
  ref.port = reader.port("port");
  ref.weight = static_cast<std::uint32_t>(reader.integer("weight", 0, kMaxWeight).value_or(1));
  if (ref.object.group.empty() && ref.object.kind == "Service" && !reader.has("port")) {
    reader.error("port", "is required for a Service");
  }
  ref.filters = readFilters(reader, ref.unbuilt);
  reader.finish();
  return ref;
}

void readTimeouts(FieldReader& reader, HttpRouteRule& rule) {
  FieldReader timeouts = reader.map("timeouts");
  rule.requestTimeout = timeouts.duration("request");
  rule.backendRequestTimeout = timeouts.duration("backendRequest");
  const Duration request = rule.requestTimeout.value_or(Duration::zero());
  if (request > Duration::zero() && rule.backendRequestTimeout.value_or(request) > request) {
    timeouts.error("backendRequest", "must not be longer than request");
  }
  timeouts.finish();
}

/// Only one prefix can be the one that is replaced (HTTPRouteRule's validation).
void checkPrefixRewrites(ObjectContext& context, const HttpRouteRule& rule) {
  const bool onePrefix = rule.matches.size() == 1 && rule.matches.front().path.type == PathMatchType::kPathPrefix;
  const auto check = [&](const auto& filter) {
    if (rule.matches.empty() || onePrefix || !filter || !filter->path) return;
    if (filter->path->type != PathModifierType::kReplacePrefixMatch) return;
    context.error(filter->path->position, filter->path->path,
                  "ReplacePrefixMatch needs a rule with exactly one match, of type PathPrefix");
  };
  const auto checkBoth = [&](const Filters& filters) {
    check(filters.urlRewrite);
    check(filters.requestRedirect);
  };
  checkBoth(rule.filters);
  for (const HttpBackendRef& ref : rule.backendRefs) checkBoth(ref.filters);
}

/// `legible` says whether its matches are what the user wrote, errors elsewhere or not.
HttpRouteRule readRule(FieldReader reader, bool& legible) {
  ObjectContext& context = reader.context();
  HttpRouteRule rule;
  rule.path = reader.path();
  rule.position = reader.position();
  rule.name = reader.text("name", rule::kSectionName);
  rule.matches = readHttpMatches(reader);
  rule.filters = readFilters(reader, rule.unbuilt);
  for (const Item& item : reader.list("backendRefs", kMaxBackendRefs)) {
    rule.backendRefs.push_back(readBackendRef(reader.map(item)));
  }
  checkPrefixRewrites(context, rule);
  if (rule.filters.requestRedirect && !rule.backendRefs.empty()) {
    reader.error("backendRefs", "must not be given together with a RequestRedirect filter");
  }
  readTimeouts(reader, rule);
  rule.retry = readRetry(reader, rule.unbuilt);
  reader.unbuilt("sessionPersistence", "sessionPersistence is not supported", true, rule.unbuilt);
  const std::size_t errors = context.errors();
  reader.finish();
  // An unknown field may be a misspelt `matches`.
  legible = !rule.matches.empty() && (reader.has("matches") || context.errors() == errors);
  return rule;
}

void readRules(FieldReader& spec, std::vector<HttpRouteRule>& rules) {
  const std::vector<Item> items = spec.list("rules", kMaxRules);
  if (items.empty() && spec.has("rules")) spec.error("rules", "must have at least one item");
  std::size_t matches = 0;
  for (const Item& item : items) {
    bool legible = false;
    HttpRouteRule rule = readRule(spec.map(item), legible);
    for (const HttpRouteRule& other : rules) {
      if (!rule.name.empty() && other.name == rule.name) {
        spec.context().error(rule.position, rule.path + ".name", "repeats the name of " + other.path);
      }
    }
    matches += rule.matches.size();
    if (legible) rules.push_back(std::move(rule));
  }
  if (matches > kMaxMatchesOfRoute) {
    spec.error("rules", "have " + std::to_string(matches) + " matches together; at most " +
                            std::to_string(kMaxMatchesOfRoute) + " are allowed");
  }
  if (!spec.has("rules")) {
    HttpRouteRule& rule = rules.emplace_back();
    rule.path = spec.pathOf("rules");
    rule.position = spec.position();
    rule.matches.emplace_back();
  }
}

}  // namespace

std::optional<HttpRoute> readHttpRoute(FieldReader& root, ObjectMeta meta) {
  HttpRoute route;
  route.meta = std::move(meta);
  ObjectContext& context = root.context();
  root.require("spec");
  FieldReader spec = root.map("spec");
  route.parentRefs = readParentRefs(spec);
  route.hostnames = spec.texts("hostnames", rule::kHostname, kMaxHostnames);
  readRules(spec, route.rules);
  spec.unbuilt("useDefaultGateways", "default Gateways are not supported", false, route.unbuilt);
  const std::size_t errors = context.errors();
  spec.finish();
  // An unknown field may be a misspelt `hostnames` or `rules`, without which the route would claim everything.
  const bool unknownFields = context.errors() != errors;
  const Value* hostnames = spec.find("hostnames");
  const bool anyHostname = hostnames == nullptr || (hostnames->isList() && hostnames->items.empty());
  const bool claimsTooMuch = (anyHostname || !spec.has("rules")) && unknownFields;
  if (claimsTooMuch || (!anyHostname && route.hostnames.empty())) return std::nullopt;
  return route;
}

}  // namespace sluice::config

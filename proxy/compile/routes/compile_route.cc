#include "proxy/compile/routes/compile_route.h"

#include <algorithm>

#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/routes/compile_cors.h"
#include "proxy/compile/routes/compile_headers.h"
#include "proxy/compile/routes/compile_match.h"
#include "proxy/compile/routes/compile_retry.h"
#include "proxy/compile/routes/compile_rewrite.h"
#include "proxy/compile/routes/compile_session.h"
#include "proxy/compile/routes/route_uses.h"

namespace sluice::compile {
namespace {

/// Compiles one route. The parts that depend on the kind of route are the overloads at the end of the class.
class RouteCompiler {
 public:
  RouteCompiler(const config::Route& route, const RouteTools& tools, RoutePlan& plan)
      : route_(route),
        backends_(tools.backends),
        uses_(tools.uses),
        processors_(tools.processors),
        policies_(tools.policies),
        plan_(plan) {}

  template <typename RouteRule>
  void compile(const std::vector<RouteRule>& rules) {
    const std::optional<Fault> ofRoute = plan_.rejection ? plan_.rejection : alteringFault(route_.unsupported);
    if (ofRoute && !plan_.rejection) plan_.faults.push_back(*ofRoute);
    addNotes(ignoredNotes(route_.unsupported));
    std::size_t failing = 0;
    for (std::uint32_t index = 0; index < rules.size(); ++index) {
      if (!compileRule(rules[index], index, ofRoute)) ++failing;
    }
    plan_.wholeRouteFails = ofRoute.has_value() || (failing > 0 && failing == rules.size());
  }

 private:
  /// Returns false if the rule has a fault of its own.
  template <typename RouteRule>
  bool compileRule(const RouteRule& rule, std::uint32_t index, const std::optional<Fault>& ofRoute) {
    RulePlan result;
    result.name = rule.name;
    result.isWritten = true;
    result.timed = isTimed(rule);
    const std::string place = placeOf(rule, index);
    result.place = std::string(plan_.kind) + " " + plan_.name + place;
    auto compiled = std::make_shared<routing::Rule>();
    compiled->route = plan_.name;
    std::optional<Fault> own = alteringFault(rule.unsupported);
    addNotes(ignoredNotes(rule.unsupported));
    compileFilters(rule.filters, rule, *compiled, own);
    compileOwn(rule, *compiled);
    compiled->mirrors = mirrors(rule.filters, result.mirrors);
    compileMatches(rule, index, result, own);
    compileBackends(rule, place, *compiled, own, result.members);
    if (!own) own = faultOfTunnels(rule, result, *compiled);
    take(compileSession(rule, result.members, {plan_.kind, route_.meta, index}), compiled->session, own);
    applyPolicies({rule, plan_, result, place, *compiled, own});
    setFailure(rule, ofRoute ? ofRoute : own, *compiled);
    result.rule = std::move(compiled);
    if (own) plan_.faults.push_back(*own);
    plan_.rules.push_back(std::move(result));
    return !own;
  }

  /// Applies the settings of policies for the rule, its route and its Backends, and stores them in the plan.
  void applyPolicies(const RuleInMaking& rule) const {
    rule.plan.written = {rule.rule.retry.has_value(), rule.rule.requestTimeout, rule.rule.backendRequestTimeout};
    std::vector<SharedSettings>& own = rule.plan.own;
    own.reserve(policies_.size());
    for (const auto& each : policies_) own.push_back(each->ofRule(plan_, rule.plan));
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] != nullptr) policies_[i]->applyToBackends(*own[i], rule);
    }
    for (std::size_t i = 0; i < own.size(); ++i) policies_[i]->applyToRule(own[i].get(), rule);
  }

  /// Returns the rule's name if it has one, so that its place stays the same when rules before it are added or removed.
  static std::string placeOf(const config::RouteRule& rule, std::uint32_t index) {
    return rule.name.empty() ? ", rule " + std::to_string(index) : ", rule named " + rule.name;
  }

  UsesOf usesOf(bool exposed, std::string place) const {
    return {plan_.holder(), route_.meta.name, processing::Scope::kRoute, exposed ? Exposure::kSome : Exposure::kNone,
            std::move(place)};
  }

  /// Compiles the matches. If one cannot be evaluated, the rule answers 500 to all requests that the match could have
  /// meant and that no other rule matches explicitly. Otherwise a broader rule would serve them by mistake.
  template <typename RouteRule>
  void compileMatches(const RouteRule& rule, std::uint32_t index, RulePlan& result, std::optional<Fault>& own) {
    bool rest = rule.coversRest;
    for (std::uint32_t position = 0; position < rule.matches.size(); ++position) {
      const auto& written = rule.matches[position];
      const routing::Precedence place{route_.meta.creationTimestamp, plan_.name, index, position};
      auto match = compileMatch(written, written.widened ? lastOf(place) : place, room_);
      if (!match && !own) own = match.fault;
      if (!match) {
        if (const auto wider = widened(written)) match = compileMatch(*wider, lastOf(place), room_);
      }
      if (match) {
        result.matches.push_back(*std::move(match.value));
      } else {
        rest = true;
      }
    }
    if (rest) result.matches.push_back(restOf(grpc(), plan_.name, index));
  }

  void setFailure(const config::RouteRule& rule, const std::optional<Fault>& fault, routing::Rule& compiled) {
    if (fault) {
      compiled.failure = refusal(answer(*fault));
    } else if (rule.backendRefs.empty() && !compiled.redirect) {
      // The request's steps run anyway, because one of them may answer (HTTPRouteRule.backendRefs).
      if (!compiled.chain) addNote({rule.path, "it has no backendRefs: its requests answer " + refused()});
    } else if (compiled.totalWeight == 0 && !compiled.failover && !compiled.redirect) {
      addNote({rule.path, "all weights are 0: its requests answer " + refused() +
                              (compiled.session ? ", but for the sessions that there are" : "")});
      // Exchanges decide for each request whether it belongs to a session.
      if (compiled.session) return;
      compiled.failure = compiled.withoutBackend();
    }
  }

  bool grpc() const { return plan_.kind == config::GrpcRoute::kKind; }
  std::string refused() const { return grpc() ? "UNAVAILABLE" : "500"; }

  base::Error refusal(base::Error error) const { return routing::Rule::refusal(std::move(error), grpc()); }

  const std::shared_ptr<const BackendUse>& resolve(const config::BackendObjectReference& ref) {
    return plan_.uses.emplace_back(uses_.resolve(backends_, ref, plan_.holder()));
  }

  /// Returns the plan in the form that the route needs: requests of a GRPCRoute need HTTP/2.
  BackendResult forRoute(const BackendResult& result, const config::ObjectRef& object) const {
    if (!result || !grpc()) return result;
    auto plan = overHttp2(*result.value);
    if (plan) return plan;
    return fault(config::reason::kUnsupportedProtocol, object.path,
                 describe(object, route_.meta.nameSpace) + ": it speaks HTTP/1.1, which cannot carry gRPC");
  }

  template <typename RouteRule>
  void compileBackends(const RouteRule& rule, const std::string& place, routing::Rule& compiled,
                       std::optional<Fault>& own, std::vector<RuleMember>& members) {
    for (std::size_t i = 0; i < rule.backendRefs.size(); ++i) {
      addBackends(rule.backendRefs[i], rule, place + ", backendRef " + std::to_string(i), compiled, members);
    }
    if (members.size() > kMostRuleMembers) {
      if (!own) {
        own = fault(config::reason::kUnsupportedValue, rule.path + ".backendRefs",
                    "the Backends have " + std::to_string(members.size()) + " endpoints in all; a rule may have " +
                        std::to_string(kMostRuleMembers));
      }
      compiled.backends.clear();
      members.clear();
    }
    setWeights(members, compiled);
  }

  /// Returns the fault of a rule that takes CONNECT and leads to a destination that its requests do not name.
  static std::optional<Fault> faultOfTunnels(const config::RouteRule& rule, const RulePlan& plan,
                                             const routing::Rule& compiled) {
    const auto isConnect = [](const MatchPlan& each) { return each.match->predicates.method == "CONNECT"; };
    const auto isFixed = [](const routing::WeightedBackend& each) { return each.backend && !each.backend->dynamic; };
    if (std::none_of(plan.matches.begin(), plan.matches.end(), isConnect)) return std::nullopt;
    if (std::none_of(compiled.backends.begin(), compiled.backends.end(), isFixed)) return std::nullopt;
    return fault(config::reason::kUnsupportedValue, rule.path + ".backendRefs",
                 "a rule that takes CONNECT leads to Backends of type Dynamic alone");
  }

  /// Adds a weighted backend for the reference, or one for each of its endpoints.
  template <typename RouteRule>
  void addBackends(const config::HttpBackendRef& ref, const RouteRule& rule, const std::string& place,
                   routing::Rule& compiled, std::vector<RuleMember>& members) {
    routing::WeightedBackend common;
    std::optional<Fault> own = alteringFault(ref.unsupported);
    addNotes(ignoredNotes(ref.unsupported));
    compileFilters(ref.filters, rule, common, own);
    UseList mirrored;
    common.mirrors = mirrors(ref.filters, mirrored);
    const std::shared_ptr<const BackendUse> use = resolve(ref);
    std::vector<BackendResult> backends;
    for (const EndpointUse& each : use->endpoints) backends.push_back(forRoute(each.result, ref.object));
    const std::vector<processing::Step> steps = stepsOf(ref.filters, backends, place, own);
    if (own) plan_.faults.push_back(*own);
    for (std::size_t i = 0; i < backends.size(); ++i) {
      const EndpointUse& endpoint = use->endpoints[i];
      const bool isFallback = use->backend != nullptr && use->backend->isFallback;
      members.push_back({&ref, endpoint.name, endpoint.priority, endpoint.weight, isFallback, 0, use, mirrored});
      routing::WeightedBackend& weighted = compiled.backends.emplace_back(common);
      if (!backends[i]) noteUnresolved(backends[i].fault);
      if (own || !backends[i]) {
        weighted.failure = refusal(answer(own ? *own : backends[i].fault));
        continue;
      }
      weighted.backend = *backends[i].value;
      if (!ref.filters.processors.empty()) weighted.chain = chainOf(steps, weighted.backend->chain);
    }
    if (!own && std::any_of(backends.begin(), backends.end(), [](const auto& each) { return bool(each); })) {
      addNote(use->note);
    }
  }

  /// Adds the fault, unless another endpoint of the same Backend has added it.
  void noteUnresolved(const Fault& fault) {
    std::vector<Fault>& known = plan_.unresolved;
    if (std::find(known.begin(), known.end(), fault) == known.end()) known.push_back(fault);
  }

  /// Returns the steps of the filters of a backendRef.
  std::vector<processing::Step> stepsOf(const config::RouteFilters& filters, const std::vector<BackendResult>& backends,
                                        const std::string& place, std::optional<Fault>& own) {
    bool leads = false;
    bool exposed = false;
    for (const BackendResult& each : backends) {
      leads = leads || each;
      exposed = exposed || (each && exposes(**each.value));
    }
    if (!leads || filters.processors.empty()) return {};
    return takeSteps(usesFor(processors_, {&filters.processors, usesOf(exposed, place)}, plan_), plan_, own);
  }

  /// Compiles the mirrors. A mirror whose reference is broken is left out, and requests are served without it
  /// (HTTPRequestMirrorFilter). `uses` gets the resolution of each of the others.
  std::vector<routing::RequestMirror> mirrors(const config::RouteFilters& filters, UseList& uses) {
    std::vector<routing::RequestMirror> result;
    for (const config::RequestMirrorFilter& each : filters.mirrors) {
      const std::shared_ptr<const BackendUse> use = resolve(each);
      BackendResult backend = forRoute(use->first(), each.object);
      if (backend && (*backend.value)->dynamic != nullptr) {
        plan_.unresolved.push_back(requestsNameIt(each.object, plan_.holder()));
      } else if (backend) {
        result.push_back({*std::move(backend.value), each.numerator, each.denominator});
        uses.push_back(use);
      } else {
        plan_.unresolved.push_back(std::move(backend.fault));
      }
    }
    return result;
  }

  /// Compiles filters into a Rule or a weighted backend. The first fault is stored in `own`.
  template <typename RouteRule, typename Target>
  static void compileFilters(const config::RouteFilters& filters, const RouteRule& rule, Target& target,
                             std::optional<Fault>& own) {
    take(compileHeaders(filters.requestHeaders, HeaderSection::kRequest), target.requestHeaders, own);
    take(compileHeaders(filters.responseHeaders, HeaderSection::kResponse), target.responseHeaders, own);
    compileOwnFilters(filters, rule, target, own);
  }

  template <typename T>
  static void take(Resolved<T> compiled, T& target, std::optional<Fault>& own) {
    if (compiled) {
      target = *std::move(compiled.value);
    } else if (!own) {
      own = std::move(compiled.fault);
    }
  }

  void addNotes(const std::vector<config::Finding>& notes) {
    plan_.notes.insert(plan_.notes.end(), notes.begin(), notes.end());
  }

  void addNote(config::Finding note) {
    if (!note.message.empty()) plan_.notes.push_back(std::move(note));
  }

  static void compileOwn(const config::HttpRouteRule& rule, routing::Rule& compiled) {
    compiled.requestTimeout = rule.requestTimeout;
    compiled.backendRequestTimeout = rule.backendRequestTimeout.value_or(base::Duration::zero());
    if (rule.retry) compiled.retry = retryPolicy(*rule.retry);
  }

  static void compileOwn(const config::GrpcRouteRule& /*rule*/, routing::Rule& compiled) { compiled.grpc = true; }

  static bool isTimed(const config::HttpRouteRule& rule) { return rule.backendRequestTimeout.has_value(); }
  static bool isTimed(const config::GrpcRouteRule& /*rule*/) { return false; }

  template <typename Target>
  static void compileOwnFilters(const config::RouteFilters& filters, const config::HttpRouteRule& rule, Target& target,
                                std::optional<Fault>& own) {
    take(compileRewrite(filters.urlRewrite, rule), target.rewrite, own);
    take(compileRedirect(filters.requestRedirect, rule), target.redirect, own);
    take(compileCors(filters.cors), target.cors, own);
  }

  template <typename Target>
  static void compileOwnFilters(const config::RouteFilters& /*filters*/, const config::GrpcRouteRule& /*rule*/,
                                Target& /*target*/, std::optional<Fault>& /*own*/) {}

  const config::Route& route_;
  const BackendCatalog& backends_;
  BackendUses& uses_;
  const ProcessorCompiler& processors_;
  const RulePolicyList& policies_;
  RoutePlan& plan_;
  routing::Regex::Room room_;
};

RoutePlan planWithoutRules(std::string_view kind, const std::shared_ptr<const config::Route>& route,
                           std::optional<Fault> rejection) {
  RoutePlan plan;
  plan.kind = kind;
  plan.route = route;
  plan.name = route->meta.qualifiedName();
  plan.rejection = std::move(rejection);
  return plan;
}

template <typename RouteType>
RoutePlan compileRouteOfKind(const std::shared_ptr<const RouteType>& route, const RouteTools& tools,
                             std::optional<Fault> rejection) {
  RoutePlan plan = planWithoutRules(RouteType::kKind, route, std::move(rejection));
  plan.hooks = tools.hooks;
  plan.processed = tools.processors.concern(route->meta);
  RouteCompiler(*route, tools, plan).compile(route->rules);
  plan.candidates = candidatesOf(plan.rules);
  return plan;
}

}  // namespace

RoutePlan compileRoute(const std::shared_ptr<const config::HttpRoute>& route, const RouteTools& tools,
                       std::optional<Fault> rejection) {
  return compileRouteOfKind(route, tools, std::move(rejection));
}

RoutePlan compileRoute(const std::shared_ptr<const config::GrpcRoute>& route, const RouteTools& tools,
                       std::optional<Fault> rejection) {
  return compileRouteOfKind(route, tools, std::move(rejection));
}

RoutePlan turnedAwayRoute(std::string_view kind, const std::shared_ptr<const config::Route>& route,
                          std::optional<Fault> rejection) {
  RoutePlan plan = planWithoutRules(kind, route, std::move(rejection));
  plan.turnedAway = true;
  plan.candidates = candidatesOf(plan.rules);
  return plan;
}

std::shared_ptr<const routing::RouteCandidates> candidatesOf(
    const std::vector<RulePlan>& plans, const std::vector<std::shared_ptr<const routing::Rule>>& rules) {
  auto result = std::make_shared<routing::RouteCandidates>();
  for (std::size_t index = 0; index < plans.size(); ++index) {
    for (const MatchPlan& each : plans[index].matches) result->push_back({each.match, rules[index]});
  }
  return result;
}

std::shared_ptr<const routing::RouteCandidates> candidatesOf(const std::vector<RulePlan>& rules) {
  std::vector<std::shared_ptr<const routing::Rule>> own;
  for (const RulePlan& each : rules) own.push_back(each.rule);
  return candidatesOf(rules, own);
}

Fault faultOfRule(std::size_t index, const Fault& fault) {
  return compile::fault(fault.reason, "spec.rules[" + std::to_string(index) + "]", fault.text());
}

RoutePlan withoutMatches(const RoutePlan& plan, const Fault& fault) {
  RoutePlan result = plan;
  auto refusing = std::make_shared<routing::Rule>();
  refusing->route = plan.name;
  refusing->grpc = plan.kind == config::GrpcRoute::kKind;
  refusing->failure = routing::Rule::refusal(answer(fault), refusing->grpc);
  MatchPlan rest = restOf(refusing->grpc, plan.name, 0);
  result.rejection = fault;
  result.rules = {{std::move(refusing), {std::move(rest)}}};
  result.candidates = candidatesOf(result.rules);
  return result;
}

std::optional<RoutePlan> withRefusals(const RoutePlan& plan, const RefusalOf& refusalOf) {
  std::optional<RoutePlan> result;
  for (std::size_t index = 0; index < plan.rules.size(); ++index) {
    const std::optional<Fault> why = refusalOf(plan.rules[index]);
    if (!why) continue;
    if (!result) result = plan;
    auto refusing = std::make_shared<routing::Rule>(*plan.rules[index].rule);
    refusing->failure = routing::Rule::refusal(answer(*why), refusing->grpc);
    result->rules[index].rule = std::move(refusing);
    std::vector<Fault>& faults = result->faults;
    if (std::find(faults.begin(), faults.end(), *why) == faults.end()) faults.push_back(*why);
  }
  if (!result) return std::nullopt;
  result->candidates = candidatesOf(result->rules);
  result->wholeRouteFails = std::all_of(result->rules.begin(), result->rules.end(),
                                        [](const RulePlan& rule) { return static_cast<bool>(rule.rule->failure); });
  return result;
}

/// Returns true if clients of the rule keep sealed values.
bool sealsValues(const routing::Rule& rule) {
  const auto hasCookie = [](const routing::WeightedBackend& each) {
    return each.backend && each.backend->connection.balancing.source == base::HashSource::kCookie;
  };
  return rule.session || std::any_of(rule.backends.begin(), rule.backends.end(), hasCookie);
}

std::optional<RoutePlan> withoutSessions(const RoutePlan& plan, const base::SessionKeyRef& key, const Fault& fault) {
  const std::string& reader = plan.route->meta.nameSpace;
  const std::string secret = nameFor(reader, config::SecretObject::kKind, key.nameSpace, key.name) + ": ";
  const Fault why =
      compile::fault(fault.reason, "sessionPersistence: settings.yaml: sessionPersistence.secretRef: " + secret +
                                       toldBriefly(reader, key.nameSpace, fault).text());
  return withRefusals(plan, [&](const RulePlan& rule) -> std::optional<Fault> {
    if (rule.rule->failure || !sealsValues(*rule.rule)) return std::nullopt;
    return why;
  });
}

}  // namespace sluice::compile

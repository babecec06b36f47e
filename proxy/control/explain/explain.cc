#include "proxy/control/explain/explain.h"

#include <algorithm>
#include <utility>

#include "proxy/compile/processors/compile_processors.h"
#include "proxy/control/explain/choose_bind.h"
#include "proxy/control/explain/explained_backend.h"
#include "proxy/control/explain/explained_caller.h"
#include "proxy/control/explain/explained_egress.h"
#include "proxy/control/explain/explained_filters.h"
#include "proxy/control/explain/explained_steps.h"
#include "proxy/control/explain/match_words.h"
#include "proxy/http/connection_auth.h"
#include "proxy/http/grpc.h"
#include "proxy/http/target.h"
#include "proxy/net/address.h"
#include "proxy/routing/backend_dial.h"
#include "proxy/routing/dynamic_targets.h"
#include "proxy/routing/policy/client_authentication.h"
#include "proxy/routing/policy/egress/egress_dial.h"
#include "proxy/routing/preflight.h"
#include "proxy/routing/rule_reply.h"
#include "proxy/routing/settle_head.h"

namespace sluice::control {
namespace {

// More entries than are shown, because some belong to the rule that serves.
constexpr std::size_t kSurveyed = 3 * kMostPassedOver;

/// The client of the request in question, as far as it is told.
struct ClientInQuestion {
  std::optional<net::Address> address;
  std::optional<base::Caller> caller;
  std::string_view serverName;  // of TLS in a tunnel; empty: that of the destination
};

template <typename RouteType>
std::string ruleNameIn(const config::Model& model, std::string_view route, std::size_t index) {
  const std::size_t slash = route.find('/');
  if (slash == std::string_view::npos) return {};
  const auto* found = model.find<RouteType>(route.substr(0, slash), route.substr(slash + 1));
  return found != nullptr && index < found->rules.size() ? found->rules[index].name : std::string();
}

/// Makes one Explanation, from the socket on.
class ExplanationMaker {
 public:
  ExplanationMaker(const routing::Snapshot& snapshot, const config::Model& model, const routing::Bind& bind,
                   ReadRequest& request, const ClientInQuestion& client)
      : snapshot_(snapshot),
        model_(model),
        bind_(bind),
        client_(client),
        routes_(routing::routesOf(bind.service)),
        isForwardProxy_(routing::isForwardProxy(bind.service)),
        arena_(request.message.arena),
        head_(request.message.head) {}

  /// `serverName` is the name in the client's TLS handshake.
  Explanation make(const std::optional<base::Error>& refused, std::string_view serverName) {
    describeRequest();
    if (refused) {
      refuse(*refused);
      return std::move(result_);
    }
    const std::string_view named = head_.authority;
    const std::optional<base::Error> unsettled = routing::settleHead(arena_, head_, routes_);
    describeRequest();
    if (head_.authority != named) result_.notes.emplace_back("the listener takes the port out of the authority");
    if (unsettled) {
      refuse(*unsettled);
      return std::move(result_);
    }
    match_ = routing::matchRequest(routes_, head_, serverName);
    survey();
    decide();
    return std::move(result_);
  }

 private:
  void describeRequest() {
    result_.method = head_.methodText;
    result_.authority = head_.authority;
    result_.path = head_.path();
    result_.version = http::versionName(head_.version);
    result_.timeouts.connect = snapshot_.settings.timeouts.connect;
    result_.timeouts.request = snapshot_.settings.timeouts.request;
  }

  // --- the route ---

  ExplainedRule describe(const routing::SurveyedEntry& entry) const {
    const routing::Match& match = *entry.candidate->match;
    const routing::Rule& rule = *entry.candidate->rule;
    const std::uint32_t index = match.precedence.rule;
    return {rule.grpc ? "GRPCRoute" : "HTTPRoute",
            rule.route,
            entry.hostname,
            index,
            rule.grpc ? ruleNameIn<config::GrpcRoute>(model_, rule.route, index)
                      : ruleNameIn<config::HttpRoute>(model_, rule.route, index),
            matchInWords(match)};
  }

  /// A preflight is surveyed as the request that it announces, if it is matched as that request.
  void survey() {
    if (match_.listener == nullptr) return;
    noteMatchedPath();
    routing::RouteSurvey survey = routing::surveyRoutes(routes_, head_, kSurveyed);
    const auto serves = [this](const routing::RouteSurvey& each) {
      return each.serving() != nullptr && each.serving()->candidate->rule.get() == match_.rule;
    };
    http::RequestHead matched = head_;
    if (match_.rule != nullptr && !serves(survey) && routing::isPreflight(head_)) {
      matched = routing::announcedRequest(head_);
      survey = routing::surveyRoutes(routes_, matched, kSurveyed);
    }
    result_.listener = ExplainedListener{match_.listener->gateway, match_.listener->section, match_.listener->port,
                                         bind_.tls, survey.listenerHostname};
    if (const auto& authentication = match_.listener->authentication) {
      result_.listener->authentication = authentication->policy;
      result_.listener->authenticationRequired = authentication->required;
    }
    result_.listener->clientCertificates = clientCertificates(*match_.listener);
    noteCaller();
    const routing::SurveyedEntry* const serving = serves(survey) ? survey.serving() : nullptr;
    if (serving != nullptr) {
      result_.rule = describe(*serving);
      for (const routing::Match* each : routing::matchesOfRule(routes_, *serving))
        result_.matches.push_back(matchInWords(*each));
    }
    for (const routing::SurveyedEntry& entry : survey.entries) {
      if (result_.others.size() == kMostPassedOver) return;
      if (entry.candidate->rule.get() == match_.rule) continue;
      result_.others.push_back({describe(entry), reasonInWords(entry, serving, matched)});
    }
  }

  void noteCaller() {
    const bool isIdentified = client_.caller && client_.caller->assurance != base::Assurance::kNone;
    if (!isIdentified || identifiesCallers(*match_.listener)) return;
    result_.notes.emplace_back("the listener identifies no caller: requests to it are decided as without identity");
  }

  void noteMatchedPath() {
    if (!match_.listener->matching.ignorePathParameters) return;
    std::string room;
    const std::string_view matched = http::withoutPathParameters(head_.path(), room);
    if (matched == head_.path()) return;
    result_.notes.emplace_back("the listener matches the path without its parameters: " + std::string(matched));
  }

  // --- the outcome, in the order in which exchange/request_path.cc decides it ---

  void decide() {
    if (const auto refusal = routing::refusalOf(head_, match_)) return refuse(*refusal);
    const routing::Rule& rule = *match_.rule;
    describeRule(rule);
    if (routing::repliesLocally(head_, rule)) {
      result_.answer = answerOf({rule, nullptr});
      result_.filters = filtersOfAnswered(rule, nullptr);
      result_.steps = steps(nullptr, Course::kAnswered);
    } else if (rule.backends.empty()) {
      refuse(rule.withoutBackend(), Course::kAnswered);
    } else if (rule.totalWeight == 0 && !rule.session && !rule.failover) {
      return refuse(rule.withoutBackend());
    } else {
      for (const routing::WeightedBackend& each : rule.backends) result_.backends.push_back(describe(rule, each));
      settleEgress(result_);
    }
    refuseBeforeSteps(rule);
    addNotes(rule);
  }

  void describeRule(const routing::Rule& rule) {
    if (rule.requestTimeout) result_.timeouts.request = *rule.requestTimeout;
    result_.timeouts.backendRequest = rule.backendRequestTimeout;
    describeConnect(rule);
    if (rule.session) {
      result_.session = std::string(rule.session->byHeader ? "header " : "cookie ") + rule.session->name;
    }
    if (!rule.retry) return;
    result_.retry.attempts = rule.retry->attempts + 1;
    result_.retry.backoff = rule.retry->backoff;
    for (std::uint16_t status = 400; status < 600; ++status) {
      if (rule.retry->covers(status)) result_.retry.codes.push_back(status);
    }
  }

  void describeConnect(const routing::Rule& rule) {
    const base::Duration usual = snapshot_.settings.timeouts.connect;
    base::Duration longest = base::Duration::zero();
    for (const routing::WeightedBackend& each : rule.backends) {
      if (each.backend) longest = std::max(longest, each.backend->connection.connectTimeout.value_or(usual));
    }
    if (longest != base::Duration::zero()) result_.timeouts.connect = longest;
  }

  ExplainedBackend describe(const routing::Rule& rule, const routing::WeightedBackend& weighted) {
    ExplainedBackend result = weighted.backend && weighted.backend->dynamic ? describeRequested(rule, weighted)
                                                                            : describeSettled(rule, weighted);
    if (rule.failover) {
      const auto& member = rule.failover->members[static_cast<std::size_t>(&weighted - rule.backends.data())];
      result.weight = member.weight;
      result.priority = member.priority;
    }
    return result;
  }

  /// Describes the destination that the request names.
  ExplainedBackend describeRequested(const routing::Rule& rule, const routing::WeightedBackend& weighted) {
    const auto target = routing::requestedTarget(*weighted.backend, routing::namedDestination(head_, isForwardProxy_),
                                                 {match_.listener->egress.get(), rule.egress.get()});
    routing::WeightedBackend named = weighted;
    if (target.ok()) {
      named.backend = routing::requestedPlan(*target);
    } else if (!routing::repliesLocally(head_, weighted)) {
      named.failure = target.error();
    }
    ExplainedBackend result = describeSettled(rule, named);
    result.unresolved = result.unresolved && target.ok();
    return result;
  }

  ExplainedBackend describeSettled(const routing::Rule& rule, const routing::WeightedBackend& weighted) {
    ExplainedBackend result = explainedBackend(head_, weighted, snapshot_);
    const bool answered = routing::repliesLocally(head_, weighted);
    if (weighted.failure) {
      result.answer = answerOf(*weighted.failure);
      result.filters = filtersOfRefused(rule, &weighted);
      result.steps = steps(&weighted, Course::kRefused);
    } else if (answered) {
      result.answer = answerOf({rule, &weighted});
      result.filters = filtersOfAnswered(rule, &weighted);
      result.steps = steps(&weighted, Course::kAnswered);
    } else {
      judge(rule, weighted, result);
      const bool isDenied = result.egress && result.egress->enforced.ruling == routing::EgressRuling::kDenied;
      if (!isDenied && routing::planFor(head_, weighted.backend) == nullptr) {
        result.answer = answerOf(
            base::Error::upstream(base::ErrorType::kHttpProtocolError, "the backend carries no tunnel of this kind"));
      }
      result.filters = filtersOfForwarded(rule, weighted);
      result.steps = steps(&weighted, Course::kForwarded);
    }
    return result;
  }

  /// Has the policies that cover the rule judge the Backend, with the request as the filters will leave it.
  void judge(const routing::Rule& rule, const routing::WeightedBackend& weighted, ExplainedBackend& result) {
    routing::EgressCoverage coverage{match_.listener->egress, rule.egress};
    if (!coverage.any()) return;
    routing::EgressFacts facts = routing::egressFacts(
        *weighted.backend, client_.address ? base::AddressBytes(client_.address->bytes()) : base::AddressBytes(),
        routing::egressHttp(head_), routing::leavingHttp(arena_, head_, rule, weighted), isForwardProxy_);
    facts.caller = client_.caller ? &*client_.caller : nullptr;
    facts.callerUnknown = !client_.caller && identifiesCallers(*match_.listener);
    facts.ignoresPathParameters = match_.listener->matching.ignorePathParameters;
    if (facts.way == routing::EgressWay::kConnect) {
      facts.tls = true;
      facts.serverName = client_.serverName.empty() ? facts.name : client_.serverName;
    }
    ExplainedRefusal refusal{answerOf(routing::egressDenied()), filtersOfRefused(rule, &weighted),
                             steps(&weighted, rule.failover ? Course::kAnswered : Course::kDenied),
                             steps(&weighted, Course::kUnreached)};
    judgeBackend(std::make_shared<const QuestionedDial>(std::move(coverage), facts, std::move(refusal)), result);
  }

  /// Refuses requests that authenticate their connection, and requests that a step of the Gateway would see that cannot
  /// run.
  void refuseBeforeSteps(const routing::Rule& rule) {
    const bool authenticates = http::authenticatesConnection(head_.headers);
    if (authenticates && snapshot_.settings.connectionAuth == base::ConnectionAuth::kRefuse) {
      const base::Error denied(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kDownstream,
                               "NTLM and Negotiate authenticate connections, which this gateway shares");
      return answerInstead(rule, denied, Course::kRefused);
    }
    if (const processing::Step* step = compile::refusingStep(match_.listener->chain.get())) {
      const base::Error failed(base::ErrorType::kProcessorFailed, base::ErrorOrigin::kProcessor,
                               "a payload processor of the Gateway cannot run (" + step->name + ")");
      answerInstead(rule, failed, Course::kStopped);
    }
  }

  /// Replaces the outcome of the rule and its weighted backends by this answer, except for broken ones, which refuse
  /// the request earlier.
  void answerInstead(const routing::Rule& rule, const base::Error& error, Course course) {
    if (result_.backends.empty()) refuse(error, course);
    for (std::size_t i = 0; i < result_.backends.size(); ++i) {
      if (rule.backends[i].failure) continue;
      result_.backends[i].answer = answerOf(error);
      result_.backends[i].filters = filtersOfRefused(rule, &rule.backends[i]);
      result_.backends[i].steps = steps(&rule.backends[i], course);
    }
  }

  void refuse(const base::Error& error, Course course = Course::kRefused) {
    result_.answer = answerOf(error);
    result_.filters.clear();
    if (match_.rule != nullptr) result_.filters = filtersOfRefused(*match_.rule, nullptr);
    result_.steps = steps(nullptr, course);
  }

  ExplainedAnswer answerOf(const base::Error& error) const {
    ExplainedAnswer answer{error.status, std::nullopt, std::string(base::errorTypeName(error.type)), error.detail, {}};
    if (http::isAnsweredAsGrpc(head_, error.status)) {
      answer.status = 200;
      answer.grpcStatus = http::grpcStatusFrom(error.status);
    }
    return answer;
  }

  ExplainedAnswer answerOf(const routing::AppliedFilters& filters) const {
    const http::ResponseHead reply =
        routing::ruleReply(arena_, head_, filters, routing::redirectPort(*match_.listener, head_));
    ExplainedAnswer answer;
    answer.status = reply.status;
    if (const http::Field* location = reply.headers.find("location")) {
      answer.location = location->value.substr(0, location->value.find('?'));
      answer.reason = "the filter RequestRedirect answers";
    } else {
      answer.reason = routing::corsOf(filters) != nullptr && routing::isPreflight(head_)
                          ? "the filter CORS answers the preflight"
                          : "Max-Forwards says that the request goes no further";
    }
    return answer;
  }

  std::vector<ExplainedStep> steps(const routing::WeightedBackend* backend, Course course) const {
    StepSources sources;
    if (match_.listener != nullptr) {
      sources.preRouting = match_.listener->preRouting.get();
      sources.gateway = match_.listener->chain.get();
    }
    if (match_.rule != nullptr) sources.route = match_.rule->chain.get();
    if (backend != nullptr) {
      sources.backend = backend->chain     ? backend->chain.get()
                        : backend->backend ? backend->backend->chain.get()
                                           : nullptr;
    }
    return explainedSteps(sources, course, snapshot_.settings.timeouts.processor);
  }

  void noteSentPath(const routing::Rule& rule) {
    if (head_.sentPath.empty()) return;
    const auto keepsPath = [&](const routing::WeightedBackend& each) { return !routing::rewritesPath(rule, each); };
    if (std::none_of(rule.backends.begin(), rule.backends.end(), keepsPath)) return;
    result_.notes.emplace_back("this form of the path decides; Backends get it as it was sent: " +
                               std::string(head_.sentPath));
  }

  void addNotes(const routing::Rule& rule) {
    noteSentPath(rule);
    if (rule.totalWeight == 0 && !rule.failover && !result_.answer) {
      result_.notes.emplace_back("all weights are 0: a request that belongs to no session is answered with " +
                                 std::to_string(rule.withoutBackend().status));
    }
    const auto isOfRequest = [](const ExplainedStep& step) { return step.stage != "response"; };
    const auto changes = [&](const ExplainedBackend& backend) {
      return std::any_of(backend.steps.begin(), backend.steps.end(), isOfRequest);
    };
    if (std::any_of(result_.steps.begin(), result_.steps.end(), isOfRequest) ||
        std::any_of(result_.backends.begin(), result_.backends.end(), changes)) {
      result_.notes.emplace_back(
          "payload processors were not run: they may change the request, have its route matched again, or answer it");
    }
  }

  const routing::Snapshot& snapshot_;
  const config::Model& model_;
  const routing::Bind& bind_;
  const ClientInQuestion& client_;
  const routing::RouteTable& routes_;
  const bool isForwardProxy_;
  base::Arena& arena_;
  http::RequestHead& head_;
  routing::RouteMatch match_;
  Explanation result_;
};

}  // namespace

base::Result<Explanation> explain(const routing::Snapshot& snapshot, const config::Model& model,
                                  const RequestInQuestion& asked) {
  const auto url = readUrl(asked.url);
  if (!url) return url.error();
  const auto client = net::Address::parse(asked.clientAddress, 0);
  if (!asked.clientAddress.empty() && !client) {
    return base::Error::badRequest(400, "client address: it is no IP address");
  }
  const auto caller = readCaller(asked.caller);
  if (!caller) return caller.error();
  const auto bind = chooseBind(snapshot, *url, asked.gateway);
  if (!bind) return bind.error();
  const bool atProxy = routing::isForwardProxy((*bind)->service);
  auto request = readRequest(asked, *url, atProxy);
  if (!request) return request.error();
  // RFC 6066 section 3: an address is no server name. The name of a forward proxy is not in the URL.
  const bool named = (*bind)->tls && !atProxy && !net::Address::parse(url->host, 0);
  const ClientInQuestion asking{client, *caller, asked.serverName};
  Explanation explanation = ExplanationMaker(snapshot, model, **bind, *request, asking)
                                .make(request->refusal, named ? std::string_view(url->host) : std::string_view());
  explanation.clientAddress = asked.clientAddress;
  explanation.caller = *caller;
  return explanation;
}

}  // namespace sluice::control

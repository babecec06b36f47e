#include "proxy/control/explain/explained_egress.h"

#include <algorithm>
#include <utility>

namespace sluice::control {
namespace {

using routing::EgressJudge;
using routing::EgressRuling;

routing::EgressFacts withoutViews(routing::EgressFacts facts) {
  facts.client = {};
  facts.caller = nullptr;
  facts.name = {};
  facts.sent = facts.leaving = {};
  facts.serverName.reset();
  return facts;
}

std::optional<base::Caller> callerIn(const routing::EgressFacts& facts) {
  return facts.caller != nullptr ? std::optional(*facts.caller) : std::nullopt;
}

/// Returns the decision of one policy. What is undecided by an address, with a client and a caller, is denied in the
/// end.
ExplainedRuling rulingOf(const EgressJudge& policy, const routing::EgressJudgement& judgement,
                         const routing::EgressFacts& facts) {
  ExplainedRuling result{judgement.ruling, std::string(policy.name()), std::string(policy.ruleName(judgement.rule))};
  if (judgement.ruling != EgressRuling::kUndecided) return result;
  result.rule.clear();
  result.byCaller = facts.callerUnknown && policy.looksAtCallers();
  result.byClient = facts.client.empty() && policy.looksAtClients();
  result.byAddress = facts.address.empty() && policy.looksAtAddresses();
  if (!result.byCaller && !result.byClient && !result.byAddress) {
    result.ruling = EgressRuling::kDenied;
    result.rule = policy.ruleName(routing::kEgressDefault);
  }
  return result;
}

/// Describes a decision that depends on facts that are not known, by all policies that these matter to.
ExplainedRuling undecidedBy(const routing::EgressCoverage& coverage, const routing::EgressFacts& facts) {
  ExplainedRuling result;
  for (const auto* policies : {coverage.ofListener.get(), coverage.ofRule.get()}) {
    if (policies == nullptr) continue;
    for (const auto& each : policies->enforced) {
      ExplainedRuling one = rulingOf(*each, each->judge(facts), facts);
      if (one.ruling == EgressRuling::kDenied) return one;
      if (one.ruling != EgressRuling::kUndecided) continue;
      if (result.policy.empty()) result.policy = one.policy;
      result.ruling = EgressRuling::kUndecided;
      result.byCaller = result.byCaller || one.byCaller;
      result.byClient = result.byClient || one.byClient;
      result.byAddress = result.byAddress || one.byAddress;
    }
  }
  return result;
}

ExplainedRuling enforcedRuling(const routing::EgressCoverage& coverage, const routing::EgressFacts& facts) {
  const routing::EgressVerdict verdict = routing::judgeEgress(coverage.ofListener.get(), coverage.ofRule.get(), facts);
  if (verdict.ruling == EgressRuling::kUndecided) return undecidedBy(coverage, facts);
  return {verdict.ruling, std::string(verdict.policyName()), std::string(verdict.ruleName())};
}

void settleByAddresses(ExplainedBackend& backend) {
  ExplainedRuling& settled = backend.egress->enforced;
  if (settled.ruling != EgressRuling::kUndecided || backend.addresses.empty()) return;
  const auto with = [&](EgressRuling ruling) {
    return std::find_if(backend.addresses.begin(), backend.addresses.end(),
                        [&](const ExplainedAddress& each) { return each.egress->enforced.ruling == ruling; });
  };
  auto deciding = with(EgressRuling::kPassed);
  if (deciding == backend.addresses.end()) deciding = with(EgressRuling::kUndecided);
  if (deciding == backend.addresses.end()) deciding = std::prev(backend.addresses.end());  // all of them are denied
  settled = deciding->egress->enforced;
}

void refuseByPolicy(ExplainedBackend& backend) {
  const ExplainedRefusal& refusal = backend.dial->refusal();
  const bool byName = backend.dial->byName().enforced.ruling == EgressRuling::kDenied;
  backend.answer = refusal.answer;
  backend.filters = refusal.filters;
  backend.steps = byName ? refusal.steps : refusal.laterSteps;
}

bool isDenied(const ExplainedBackend& backend) { return backend.egress->enforced.ruling == EgressRuling::kDenied; }

}  // namespace

QuestionedDial::QuestionedDial(routing::EgressCoverage coverage, const routing::EgressFacts& facts,
                               ExplainedRefusal refusal)
    : coverage_(std::move(coverage)),
      terms_(withoutViews(facts)),
      client_(facts.client.begin(), facts.client.end()),
      caller_(callerIn(facts)),
      name_(facts.name),
      sentMethod_(facts.sent.method),
      sentPath_(facts.sent.path),
      leavingMethod_(facts.leaving.method),
      leavingPath_(facts.leaving.path),
      serverName_(facts.serverName),
      refusal_(std::move(refusal)) {}

routing::EgressFacts QuestionedDial::facts() const {
  routing::EgressFacts facts = terms_;
  facts.client = client_;
  facts.caller = caller_ ? &*caller_ : nullptr;
  facts.name = name_;
  facts.sent = {sentMethod_, sentPath_};
  facts.leaving = {leavingMethod_, leavingPath_};
  if (serverName_) facts.serverName = *serverName_;
  return facts;
}

ExplainedEgress QuestionedDial::byName() const {
  const routing::EgressFacts known = facts();
  ExplainedEgress result{enforcedRuling(coverage_, known), {}};
  const auto add = [&](const EgressJudge& policy, const routing::EgressJudgement& judgement) {
    ExplainedRuling ruling = rulingOf(policy, judgement, known);
    if (ruling.ruling != EgressRuling::kPassed) result.audited.push_back(std::move(ruling));
  };
  routing::auditEgress(coverage_.ofListener.get(), known, add);
  routing::auditEgress(coverage_.ofRule.get(), known, add);
  return result;
}

ExplainedEgress QuestionedDial::byAddress(const net::Address& address) const {
  const routing::EgressFacts byName = facts();
  routing::EgressFacts known = byName;
  known.address = address.bytes();
  ExplainedEgress result{enforcedRuling(coverage_, known), {}};
  const auto add = [&](const EgressJudge& policy, const routing::EgressJudgement& judgement) {
    if (!rulingOf(policy, policy.judge(byName), byName).byAddress) return;
    ExplainedRuling ruling = rulingOf(policy, judgement, known);
    if (ruling.ruling != EgressRuling::kPassed) result.audited.push_back(std::move(ruling));
  };
  routing::auditEgress(coverage_.ofListener.get(), known, add);
  routing::auditEgress(coverage_.ofRule.get(), known, add);
  return result;
}

void settleEgress(Explanation& explanation) {
  std::vector<ExplainedBackend>& all = explanation.backends;
  for (ExplainedBackend& each : all) {
    if (each.dial) settleByAddresses(each);
  }
  const bool isLeft = std::any_of(all.begin(), all.end(), [](const ExplainedBackend& each) {
    return each.dial && each.weight > 0 && !isDenied(each);
  });
  for (ExplainedBackend& each : all) {
    if (!each.dial || !isDenied(each)) continue;
    each.egress->passedOver = each.priority && isLeft;
    if (each.answer) continue;
    if (each.egress->passedOver) {
      each.filters.clear();
      each.steps.clear();
    } else {
      refuseByPolicy(each);
    }
  }
}

}  // namespace sluice::control

#include "proxy/compile/routes/attached/restricted_rule.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/processors/permitted_steps.h"
#include "proxy/compile/routes/refused_backends.h"

namespace sluice::compile {
namespace {

/// A Restriction works on its own copy of one rule.
class Restriction {
 public:
  Restriction(const routing::Rule& rule, const SecretTrust& trust, std::string_view user)
      : rule_(rule), trust_(trust), user_(user) {}

  RestrictedRule run() && {
    if (rule_.chain) rule_.chain = permitted(*rule_.chain, result_.closed);
    refuseBackends(rule_, [this](const routing::WeightedBackend& weighted) { return faultOf(weighted); });
    removeMirrors(rule_.mirrors);
    for (routing::WeightedBackend& each : rule_.backends) {
      removeMirrors(each.mirrors);
      if (each.chain) each.chain = permitted(*each.chain, result_.closed);
    }
    if (!result_.closed.empty() && !rule_.failure) {
      rule_.failure = routing::Rule::refusal(answer(result_.closed.front()), rule_.grpc);
    }
    result_.rule = std::make_shared<const routing::Rule>(std::move(rule_));
    return std::move(result_);
  }

 private:
  /// Returns the chain without the steps that are not permitted, and adds the faults of steps that fail closed to
  /// `closed`.
  std::shared_ptr<const processing::Chain> permitted(const processing::Chain& chain, std::vector<Fault>& closed) {
    PermittedSteps steps = permittedSteps(chain.all(), trust_, {user_});
    closed.insert(closed.end(), steps.closed.begin(), steps.closed.end());
    result_.open.insert(result_.open.end(), steps.open.begin(), steps.open.end());
    return chainOf(std::move(steps.steps));
  }

  std::optional<Fault> faultOf(const routing::WeightedBackend& weighted) {
    std::optional<Fault> fault = faultOf(*weighted.backend);
    if (!fault && weighted.chain) {
      PermittedSteps steps = permittedSteps(weighted.chain->all(), trust_, {user_});
      if (!steps.closed.empty()) fault = std::move(steps.closed.front());
    }
    if (!fault) return fault;
    fault->message.insert(0, "backend " + weighted.backend->name + ": ");
    note(*fault);
    return fault;
  }

  /// Returns the fault of the Secrets that the plan and its steps use. Steps of a Backend are never left out for a
  /// single Gateway, not even those that fail open, so the Backend is refused instead.
  std::optional<Fault> faultOf(const routing::BackendPlan& plan) const {
    // The route names the Backend, so it may see the namespace of the Backend.
    const SecretTrust::ToldObject object{user_, std::string_view(plan.name).substr(0, plan.name.find('/'))};
    if (plan.tls) {
      if (auto fault = trust_.faultOf(plan.tls->secrets, object)) return fault;
    }
    if (plan.chain == nullptr) return std::nullopt;
    for (const processing::Step& each : plan.chain->all()) {
      if (auto fault = trust_.faultOf(each.secrets, object)) return fault;
    }
    return std::nullopt;
  }

  void removeMirrors(std::vector<routing::RequestMirror>& mirrors) {
    std::erase_if(mirrors, [this](const routing::RequestMirror& mirror) {
      std::optional<Fault> fault = faultOf(*mirror.backend);
      if (!fault) return false;
      fault->message.insert(0, "backend " + mirror.backend->name + ": ");
      note(*fault);
      return true;
    });
  }

  void note(const Fault& fault) {
    std::vector<Fault>& known = result_.unresolved;
    if (std::find(known.begin(), known.end(), fault) == known.end()) known.push_back(fault);
  }

  routing::Rule rule_;
  const SecretTrust& trust_;
  const std::string_view user_;
  RestrictedRule result_;
};

bool isPermittedTo(const processing::Chain* chain, const SecretTrust& trust) {
  if (chain == nullptr) return true;
  const std::vector<processing::Step> steps = chain->all();
  return std::all_of(steps.begin(), steps.end(),
                     [&](const processing::Step& each) { return trust.permitsAll(each.secrets); });
}

bool isPermittedTo(const routing::BackendPlan& plan, const SecretTrust& trust) {
  return (!plan.tls || trust.permitsAll(plan.tls->secrets)) && isPermittedTo(plan.chain.get(), trust);
}

bool arePermittedTo(const std::vector<routing::RequestMirror>& mirrors, const SecretTrust& trust) {
  return std::all_of(mirrors.begin(), mirrors.end(),
                     [&](const routing::RequestMirror& each) { return isPermittedTo(*each.backend, trust); });
}

bool isPermittedTo(const routing::Rule& rule, const SecretTrust& trust) {
  return isPermittedTo(rule.chain.get(), trust) && arePermittedTo(rule.mirrors, trust) &&
         std::all_of(rule.backends.begin(), rule.backends.end(), [&](const routing::WeightedBackend& each) {
           return (!each.backend || isPermittedTo(*each.backend, trust)) && isPermittedTo(each.chain.get(), trust) &&
                  arePermittedTo(each.mirrors, trust);
         });
}

}  // namespace

RestrictedRule restrictedRule(std::shared_ptr<const routing::Rule> rule, const SecretTrust& trust,
                              std::string_view user) {
  if (isPermittedTo(*rule, trust)) return {std::move(rule), {}, {}, {}};
  return Restriction(*rule, trust, user).run();
}

}  // namespace sluice::compile

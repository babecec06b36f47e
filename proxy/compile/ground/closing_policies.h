// ClosingPolicies finds the objects that policies and PayloadProcessors close, because they cannot be served with them.
// There are three cases. If the kind of a policy is known and not supported, the policy closes all its targets
// (config/model/policy_model.h). If it is supported, the policy closes targets and selected objects of kinds for which
// it is not supported. If the kind of a target or selector is unknown, the policy closes every object with that name or
// these labels. If these objects were served, traffic would pass without the encryption, the limit or the check that a
// user asked for.
//
// A policy that its schema refuses closes everything that its readable fields could mean. The object lives as long as
// one compilation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

/// The reason why a policy closes its target.
enum class ClosingCause : std::uint8_t {
  kKind,              // the kind of policy is not supported
  kOnlyDestinations,  // the kind of policy supports Services and Backends only
  kOnlyGateways,      // the kind of policy supports Gateways and listeners only
  kNoDestinations,    // the kind of policy does not support Services and Backends
  kNoServices,        // the kind of policy does not support Services
  kUnknown            // the kind of the target or selector is misspelt or cannot be read
};

/// Returns true for a target that a BackendTLSPolicy can give TLS: a Service of the core group, or a Backend in any
/// spelling.
bool isTlsTarget(const config::PolicyTargetKind& target);

/// Returns the reason why a kind of policy closes targets of that kind; nullopt if it does not.
using CauseOf = std::optional<ClosingCause> (*)(const config::PolicyTargetKind& target);

namespace closing {
std::optional<ClosingCause> always(const config::PolicyTargetKind& target);
std::optional<ClosingCause> never(
    const config::PolicyTargetKind& target);  // for a kind of policy that supports all targets
std::optional<ClosingCause> exceptDestinations(const config::PolicyTargetKind& target);
std::optional<ClosingCause> exceptGateways(const config::PolicyTargetKind& target);
std::optional<ClosingCause> forDestinations(const config::PolicyTargetKind& target);
std::optional<ClosingCause> forServices(const config::PolicyTargetKind& target);
}  // namespace closing

class ClosingPolicies {
 public:
  /// Adds the policies of one type, including those that their schema refused. `model` must outlive this object.
  template <typename Policy>
  void addAll(const config::Model& model, CauseOf causeOf) {
    addEach<Policy>(model, [causeOf](const Policy&, bool) { return causeOf; });
  }
  /// Adds them too; `CauseOf causeFor(policy, rejected)` decides for each, where `rejected` is true if its schema
  /// refused it.
  template <typename Policy, typename CauseFor>
  void addEach(const config::Model& model, CauseFor causeFor) {
    for (const Policy& each : model.all<Policy>()) add(each.meta, each, causeFor(each, false));
    for (const config::Rejected& each : model.rejected) {
      if (const auto* legible = each.legible<Policy>()) add(legible->meta, *legible, causeFor(*legible, true));
    }
  }

  bool empty() const { return byTarget_.empty() && selecting_.empty(); }
  /// Returns a fault (UnsupportedValue) that names the policies for the object, or for that section of it; nullopt if
  /// there are none. The section is a listener, a rule or a port. Without a section, only policies for the whole object
  /// are included.
  std::optional<Fault> faultOf(const config::ObjectMeta& object, const config::PolicySection& section = {}) const;

 private:
  struct Targeting {
    const config::ObjectMeta* policy;
    const config::PolicyTarget* target;
    ClosingCause cause;
  };
  struct Selecting {
    const config::ObjectMeta* policy;
    const config::PolicyTargetSelector* selector;
    ClosingCause cause;
  };
  using Name = std::pair<std::string_view, std::string_view>;  // namespace and name of a target

  void add(const config::ObjectMeta& policy, const config::PolicyTargets& named, CauseOf causeOf);

  std::map<Name, std::vector<Targeting>> byTarget_;
  std::map<std::string_view, std::vector<Selecting>> selecting_;  // by namespace
};

}  // namespace sluice::compile

// Finds the objects that policies and PayloadProcessors close because they cannot be served with them: what
// policies name whose kinds are known and not served (config/model/policy_model.h), targets and selectors of kinds for
// which a kind of policy is not supported, and every object with the name of a target, or the labels of a selector,
// whose kind is unknown. Serving them anyway would let traffic through without the encryption, the limit or the check
// that somebody asked for.
//
// A policy that its schema refuses closes what it could mean, as far as it is legible. The object lives as long as one
// compilation.
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

/// Why a policy closes what it targets.
enum class ClosingCause : std::uint8_t {
  kKind,              // its kind is not served
  kOnlyDestinations,  // its kind is for Services and Backends
  kNoDestinations,    // its kind is not for Services and Backends
  kNoServices,        // its kind is not for Services
  kUnknown            // the kind of the target or selector is misspelt or not legible
};

/// Returns true for a target that a BackendTLSPolicy can give TLS: a Service of the core group, or a Backend in any
/// spelling.
bool isTlsTarget(const config::PolicyTargetKind& target);

/// Returns why a kind of policies closes targets of that kind; nullopt if it does not.
using CauseOf = std::optional<ClosingCause> (*)(const config::PolicyTargetKind& target);

namespace closing {
std::optional<ClosingCause> always(const config::PolicyTargetKind& target);
std::optional<ClosingCause> never(const config::PolicyTargetKind& target);  // it is for all that carries requests
std::optional<ClosingCause> exceptDestinations(const config::PolicyTargetKind& target);
std::optional<ClosingCause> forDestinations(const config::PolicyTargetKind& target);
std::optional<ClosingCause> forServices(const config::PolicyTargetKind& target);
}  // namespace closing

class ClosingPolicies {
 public:
  /// Adds the policies of one type, also those that their schema refused. `model` must outlive this object.
  template <typename Policy>
  void addAll(const config::Model& model, CauseOf causeOf) {
    for (const Policy& each : model.all<Policy>()) add(each.meta, each, causeOf);
    for (const config::Rejected& each : model.rejected) {
      if (const auto* legible = each.legible<Policy>()) add(legible->meta, *legible, causeOf);
    }
  }

  bool empty() const { return byTarget_.empty() && selecting_.empty(); }
  /// Returns a fault (UnsupportedValue) that names the policies for the object, or for that section of it; nullopt if
  /// there are none. The section is a listener, a rule or a port; without one, only policies for the whole object
  /// count.
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

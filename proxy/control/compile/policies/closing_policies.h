// The policies whose kinds are known and not served (config/model/policy_model.h), and BackendTLSPolicies for anything
// but Services and Backends. Each of them closes what it names: serving it anyway would let traffic through without the
// encryption, the limit or the check that somebody asked for.
//
// A policy that its schema refuses closes what is legible of its targets. It lives as long as one compilation.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"

namespace sluice::control {

class ClosingPolicies {
 public:
  /// `model` must outlive it.
  explicit ClosingPolicies(const config::Model& model);

  bool empty() const { return byTarget_.empty() && selecting_.empty(); }
  /// Returns a fault (UnsupportedValue) that names the policies for the object, or for that section of it; nullopt if
  /// there are none. The section is a listener, a rule or a port; without one, only policies for the whole object
  /// count.
  std::optional<Fault> faultOf(const config::ObjectMeta& object, const config::PolicySection& section = {}) const;

 private:
  struct Targeting {
    const config::ObjectMeta* policy;
    const config::PolicyTarget* target;
  };
  using Name = std::pair<std::string_view, std::string_view>;  // namespace and name of a target
  void add(const config::UnsupportedPolicy& policy);
  void add(const config::BackendTlsPolicy& policy);

  std::map<Name, std::vector<Targeting>> byTarget_;
  std::vector<const config::UnsupportedPolicy*> selecting_;
};

}  // namespace sluice::control

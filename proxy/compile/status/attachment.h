// Finds the object that a processor or a policy of its namespace is attached to, for their statuses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "config/status/conditions.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {

/// A reference to an object of namespace `holder`, or to a section of it.
struct Attachment {
  const config::ObjectRef& object;
  std::string_view holder;
  std::string_view section;  // a listener, rule or port; empty: the whole object
};

struct FoundTarget {
  bool found = false;
  bool ours = true;      // false: another controller reports it
  bool section = false;  // whether it has the named section
};

/// Finds Gateways, routes, Services and Backends; nothing is found for other kinds. An object that its schema refused
/// is a target too, as far as it is legible: requests that need it answer 500 anyway.
FoundTarget findTarget(const config::Model& model, const std::vector<GatewayPlan>& gateways, const Attachment& to);

/// Returns TargetNotFound if there is no such object or section, with what follows from it: "nothing is attached".
/// `by` is the object that is attached.
std::optional<Fault> targetFault(const config::Model& model, const FoundTarget& target, const Attachment& to,
                                 const Holder& by, std::string_view consequence);

/// Makes the entry of status.ancestors[] for it.
config::ParentStatus ancestorOf(const Attachment& to, std::vector<config::Condition> conditions);

}  // namespace sluice::compile

// Finds the object to which a processor or a policy in the same namespace is attached, for its status.
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

/// A reference to an object in the namespace `holder`, or to a section of it.
struct Attachment {
  const config::ObjectRef& object;
  std::string_view holder;
  std::string_view section;  // a listener, rule or port; empty for the whole object
};

struct FoundTarget {
  bool found = false;
  bool ours = true;      // false if another controller reports the object
  bool section = false;  // whether the object has the named section
};

/// Finds Gateways, routes, Services and Backends. The result is empty for other kinds. An object that its schema
/// refused is found too, as far as it can be read; requests that need it answer 500 anyway.
FoundTarget findTarget(const config::Model& model, const std::vector<GatewayPlan>& gateways, const Attachment& to);

/// Returns TargetNotFound if there is no such object or section, with the consequence, such as "nothing is attached".
/// `by` is the object that is attached.
std::optional<Fault> targetFault(const config::Model& model, const FoundTarget& target, const Attachment& to,
                                 const Holder& by, std::string_view consequence);

/// Makes the entry of status.ancestors[] for the attachment.
config::ParentStatus ancestorOf(const Attachment& to, std::vector<config::Condition> conditions);

}  // namespace sluice::compile

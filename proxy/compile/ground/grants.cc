#include "proxy/compile/ground/grants.h"

#include <algorithm>

namespace sluice::compile {
namespace {

/// Only grants in the target's namespace can permit a reference (Gateway API ReferenceGrant).
bool isGranted(const config::Model& model, const config::ObjectRef& ref, const Holder& holder) {
  const auto from = [&](const config::ReferenceGrant::From& each) {
    return each.group == holder.group && each.kind == holder.kind && each.nameSpace == holder.nameSpace;
  };
  const auto to = [&](const config::ReferenceGrant::To& each) {
    return each.group == ref.group && each.kind == ref.kind && (each.name.empty() || each.name == ref.name);
  };
  const config::Objects<config::ReferenceGrant>& grants = model.all<config::ReferenceGrant>();
  return std::any_of(grants.begin(), grants.end(), [&](const auto& grant) {
    return grant.meta.nameSpace == ref.nameSpace && std::any_of(grant.from.begin(), grant.from.end(), from) &&
           std::any_of(grant.to.begin(), grant.to.end(), to);
  });
}

}  // namespace

std::string_view targetNamespace(const config::ObjectRef& ref, std::string_view holder) {
  return ref.nameSpace.empty() ? holder : std::string_view(ref.nameSpace);
}

bool isPermitted(const config::Model& model, const config::ObjectRef& ref, const Holder& holder) {
  return targetNamespace(ref, holder.nameSpace) == holder.nameSpace || isGranted(model, ref, holder);
}

}  // namespace sluice::compile

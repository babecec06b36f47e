// Decides which references between namespaces ReferenceGrants permit.
#pragma once

#include <string_view>

#include "config/model/model.h"

namespace sluice::compile {

/// The object that has a reference, in the form of the `from` of a ReferenceGrant.
struct Holder {
  std::string_view group;
  std::string_view kind;
  std::string_view nameSpace;
};

inline Holder holderOf(const config::ObjectMeta& meta) { return {meta.group, meta.kind, meta.nameSpace}; }

/// Returns the namespace of a reference's target. `holder` is the namespace of the object that has the reference.
std::string_view targetNamespace(const config::ObjectRef& ref, std::string_view holder);
/// Returns false if the reference leaves its holder's namespace and no ReferenceGrant of the target's namespace permits
/// it.
bool isPermitted(const config::Model& model, const config::ObjectRef& ref, const Holder& holder);

}  // namespace sluice::compile

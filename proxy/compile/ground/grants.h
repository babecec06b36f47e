// Says which references between namespaces ReferenceGrants permit.
#pragma once

#include <string_view>

#include "config/model/model.h"

namespace sluice::compile {

/// The object that holds a reference, as the `from` of a ReferenceGrant names it.
struct Holder {
  std::string_view group;
  std::string_view kind;
  std::string_view nameSpace;
};

inline Holder holderOf(const config::ObjectMeta& meta) { return {meta.group, meta.kind, meta.nameSpace}; }

/// Returns the namespace that a reference means if an object in `holder` holds it.
std::string_view targetNamespace(const config::ObjectRef& ref, std::string_view holder);
/// Returns false if the reference leaves its holder's namespace and no ReferenceGrant of the other one permits it.
bool isPermitted(const config::Model& model, const config::ObjectRef& ref, const Holder& holder);

}  // namespace sluice::compile

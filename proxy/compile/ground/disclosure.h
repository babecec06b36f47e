// Limits what the conditions of an object disclose about objects of other namespaces: only their kind, and the reason
// of a fault. A user who may read the conditions of one namespace is not necessarily allowed to see the objects of
// others. A condition may repeat what its own object contains, such as a backendRef.
#pragma once

#include <string>
#include <string_view>

#include "config/ground/object_meta.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

/// Returns "a GRPCRoute" or "an HTTPRoute".
std::string withArticle(std::string_view kind);

/// Returns "GRPCRoute demo/a" for readers of the namespace demo, and "a GRPCRoute of another namespace" for others.
std::string nameFor(std::string_view reader, std::string_view kind, std::string_view nameSpace, std::string_view name);
inline std::string nameFor(std::string_view reader, const config::ObjectMeta& object) {
  return nameFor(reader, object.kind, object.nameSpace, object.name);
}

/// Returns a fault of an object of the namespace `owner` for readers of the namespace `reader`. Readers of another
/// namespace get the reason without the message, because messages name what the object refers to. The fault then refers
/// to the conditions of the object for details.
Fault toldTo(std::string_view reader, std::string_view owner, const Fault& fault);
/// Does the same for an object that has no conditions, such as a Service or a Secret.
Fault toldBriefly(std::string_view reader, std::string_view owner, const Fault& fault);

}  // namespace sluice::compile

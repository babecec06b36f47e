// Says what the conditions of an object tell of objects of other namespaces: their kind, and the reason of a fault. Who
// reads the conditions of one namespace need not know what others have. What the reader wrote himself, such as a
// backendRef, may be repeated.
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

/// Returns a fault of an object of the namespace `owner` as readers of a namespace may see it: others get its reason
/// and no message, because messages name what the object refers to. The object has conditions, which say more.
Fault toldTo(std::string_view reader, std::string_view owner, const Fault& fault);
/// Does the same for an object without conditions, such as a Service or a Secret.
Fault toldBriefly(std::string_view reader, std::string_view owner, const Fault& fault);

}  // namespace sluice::compile

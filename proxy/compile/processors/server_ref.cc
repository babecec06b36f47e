#include "proxy/compile/processors/server_ref.h"

#include <charconv>
#include <string>
#include <utility>

#include "proxy/compile/ground/backend_plan.h"

namespace sluice::compile {

config::BackendObjectReference serverRefOf(const content::Value& backendRef) {
  const auto text = [&](std::string_view key) {
    const content::Value* found = backendRef.find(key);
    return found == nullptr ? std::string() : found->text;
  };
  config::BackendObjectReference ref;
  ref.object = {text("group"), text("kind"), text("namespace"), text("name"), "backendRef", backendRef.position};
  if (ref.object.kind.empty()) ref.object.kind = config::Service::kKind;
  const std::string port = text("port");
  std::from_chars(port.data(), port.data() + port.size(), ref.port);
  return ref;
}

BackendResult overGrpc(BackendResult found, const std::string& field, const std::string& object) {
  if (!found) return found;
  auto plan = overHttp2(*std::move(found.value));
  if (plan != nullptr) return plan;
  return fault(config::reason::kUnsupportedProtocol, field, object + "it speaks HTTP/1.1, which cannot carry gRPC");
}

}  // namespace sluice::compile

#include "config/read/object_readers.h"

namespace sluice::config {

GatewayClass readGatewayClass(FieldReader& root, ObjectMeta meta) {
  GatewayClass gatewayClass;
  gatewayClass.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  gatewayClass.controllerName = spec.requiredText("controllerName", rule::kControllerName);
  gatewayClass.description = spec.anyText("description", 64);
  if (spec.has("parametersRef")) {
    FieldReader ref = spec.map("parametersRef");
    gatewayClass.parametersRef = readObjectRef(ref, {"", "", true}, true);
    ref.finish();
  }
  spec.finish();
  return gatewayClass;
}

}  // namespace sluice::config

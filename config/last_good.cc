#include "config/last_good.h"

#include <memory>
#include <utility>

namespace sluice::config {
namespace {

template <typename Object>
bool putBack(Objects<Object>& objects, const Object* previous, const Rejected& refused) {
  if (previous == nullptr) return false;
  auto kept = std::make_shared<Object>(*previous);
  static_cast<ObjectVersion&>(kept->meta) = refused;
  objects.add(std::move(kept));
  return true;
}

bool keepProcessing(Model& model, const Model& previous, const Rejected& refused) {
  if (refused.kind == PayloadProcessor::kKind) {
    return putBack(model.payloadProcessors,
                   previous.findPayloadProcessor(refused.group, refused.nameSpace, refused.name), refused);
  }
  return putBack(model.pipelines, previous.findPipeline(refused.group, refused.nameSpace, refused.name), refused);
}

bool keepObject(Model& model, const Model& previous, const Rejected& refused) {
  const std::string& nameSpace = refused.nameSpace;
  const std::string& name = refused.name;
  if (refused.kind == PayloadProcessor::kKind || refused.kind == PayloadProcessingPipeline::kKind) {
    return keepProcessing(model, previous, refused);
  }
  if (refused.group == kGatewayGroup) {
    if (refused.kind == "GatewayClass") {
      return putBack(model.gatewayClasses, previous.findGatewayClass(name), refused);
    }
    if (refused.kind == "Gateway") return putBack(model.gateways, previous.findGateway(nameSpace, name), refused);
    if (refused.kind == "HTTPRoute") return putBack(model.httpRoutes, previous.findHttpRoute(nameSpace, name), refused);
    if (refused.kind == "GRPCRoute") return putBack(model.grpcRoutes, previous.findGrpcRoute(nameSpace, name), refused);
    if (refused.kind == "ReferenceGrant") {
      return putBack(model.referenceGrants, previous.findReferenceGrant(nameSpace, name), refused);
    }
  } else if (refused.group.empty()) {
    if (refused.kind == "Namespace") return putBack(model.namespaces, previous.findNamespace(name), refused);
    if (refused.kind == "ConfigMap") return putBack(model.configMaps, previous.findConfigMap(nameSpace, name), refused);
    if (refused.kind == "Service") return putBack(model.services, previous.findService(nameSpace, name), refused);
    if (refused.kind == "Secret") return putBack(model.secrets, previous.findSecret(nameSpace, name), refused);
  } else if (refused.group == kDiscoveryGroup) {
    return putBack(model.endpointSlices, previous.findEndpointSlice(nameSpace, name), refused);
  }
  return putBack(model.backends, previous.findBackend(refused.group, refused.kind, nameSpace, name), refused);
}

}  // namespace

void keepLastGood(Model& model, const Model& previous) {
  std::vector<Rejected> without;
  for (Rejected& refused : model.rejected) {
    if (keepObject(model, previous, refused)) {
      refused.gateway.reset();
      refused.httpRoute.reset();
      refused.grpcRoute.reset();
      refused.payloadProcessor.reset();
      model.kept.push_back(std::move(refused));
    } else {
      without.push_back(std::move(refused));
    }
  }
  model.rejected = std::move(without);
}

}  // namespace sluice::config

#include "config/model/model.h"

#include <algorithm>

namespace sluice::config {
namespace {

const Rejected* findRefused(const std::vector<Rejected>& refused, std::string_view group, std::string_view kind,
                            std::string_view nameSpace, std::string_view name) {
  const auto found = std::find_if(refused.begin(), refused.end(), [&](const Rejected& object) {
    return object.name == name && object.nameSpace == nameSpace && object.kind == kind && object.group == group;
  });
  return found == refused.end() ? nullptr : &*found;
}

}  // namespace

std::string ObjectMeta::qualifiedName() const { return nameSpace.empty() ? name : nameSpace + "/" + name; }

const std::string* ConfigMap::find(const std::string& key) const {
  const auto found = data.find(key);
  return found == data.end() ? nullptr : &found->second.value;
}

const base::Secret* SecretObject::find(const std::string& key) const {
  const auto found = data.find(key);
  return found == data.end() ? nullptr : &found->second;
}

const BackendPort* Backend::findPort(std::uint16_t number) const {
  if (number == 0) return ports.size() == 1 ? &ports.front() : nullptr;
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const BackendPort& port) { return port.number == number; });
  return found == ports.end() ? nullptr : &*found;
}

const GatewayClass* Model::findGatewayClass(std::string_view name) const { return gatewayClasses.find("", name); }

const Gateway* Model::findGateway(std::string_view nameSpace, std::string_view name) const {
  return gateways.find(nameSpace, name);
}

const HttpRoute* Model::findHttpRoute(std::string_view nameSpace, std::string_view name) const {
  return httpRoutes.find(nameSpace, name);
}

const GrpcRoute* Model::findGrpcRoute(std::string_view nameSpace, std::string_view name) const {
  return grpcRoutes.find(nameSpace, name);
}

const ReferenceGrant* Model::findReferenceGrant(std::string_view nameSpace, std::string_view name) const {
  return referenceGrants.find(nameSpace, name);
}

const Namespace* Model::findNamespace(std::string_view name) const { return namespaces.find("", name); }

const ConfigMap* Model::findConfigMap(std::string_view nameSpace, std::string_view name) const {
  return configMaps.find(nameSpace, name);
}

const SecretObject* Model::findSecret(std::string_view nameSpace, std::string_view name) const {
  return secrets.find(nameSpace, name);
}

const Service* Model::findService(std::string_view nameSpace, std::string_view name) const {
  return services.find(nameSpace, name);
}

const EndpointSlice* Model::findEndpointSlice(std::string_view nameSpace, std::string_view name) const {
  return endpointSlices.find(nameSpace, name);
}

const Backend* Model::findBackend(std::string_view group, std::string_view kind, std::string_view nameSpace,
                                  std::string_view name) const {
  return backends.find(nameSpace, name,
                       [&](const Backend& backend) { return backend.kind == kind && backend.group == group; });
}

const PayloadProcessor* Model::findPayloadProcessor(std::string_view group, std::string_view nameSpace,
                                                    std::string_view name) const {
  return payloadProcessors.find(nameSpace, name,
                                [&](const PayloadProcessor& processor) { return processor.group == group; });
}

const PayloadProcessingPipeline* Model::findPipeline(std::string_view group, std::string_view nameSpace,
                                                     std::string_view name) const {
  return pipelines.find(nameSpace, name,
                        [&](const PayloadProcessingPipeline& pipeline) { return pipeline.group == group; });
}

const Rejected* Model::findRejected(std::string_view group, std::string_view kind, std::string_view nameSpace,
                                    std::string_view name) const {
  return findRefused(rejected, group, kind, nameSpace, name);
}

const Rejected* Model::findKept(std::string_view group, std::string_view kind, std::string_view nameSpace,
                                std::string_view name) const {
  return findRefused(kept, group, kind, nameSpace, name);
}

std::map<std::string, std::string> labelsOfNamespace(const Model& model, std::string_view name) {
  const Namespace* object = model.findNamespace(name);
  std::map<std::string, std::string> labels;
  if (object != nullptr) labels = object->meta.labels;
  labels["kubernetes.io/metadata.name"] = name;
  return labels;
}

}  // namespace sluice::config

#include "config/model.h"

#include <algorithm>

namespace sluice::config {
namespace {

template <typename Objects>
auto findObject(const Objects& objects, std::string_view nameSpace, std::string_view name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const auto& object) {
    return object.meta.name == name && object.meta.nameSpace == nameSpace;
  });
  return found == objects.end() ? nullptr : &*found;
}

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

const GatewayClass* Model::findGatewayClass(std::string_view name) const {
  return findObject(gatewayClasses, "", name);
}

const Gateway* Model::findGateway(std::string_view nameSpace, std::string_view name) const {
  return findObject(gateways, nameSpace, name);
}

const HttpRoute* Model::findHttpRoute(std::string_view nameSpace, std::string_view name) const {
  return findObject(httpRoutes, nameSpace, name);
}

const GrpcRoute* Model::findGrpcRoute(std::string_view nameSpace, std::string_view name) const {
  return findObject(grpcRoutes, nameSpace, name);
}

const ReferenceGrant* Model::findReferenceGrant(std::string_view nameSpace, std::string_view name) const {
  return findObject(referenceGrants, nameSpace, name);
}

const Namespace* Model::findNamespace(std::string_view name) const { return findObject(namespaces, "", name); }

const ConfigMap* Model::findConfigMap(std::string_view nameSpace, std::string_view name) const {
  return findObject(configMaps, nameSpace, name);
}

const SecretObject* Model::findSecret(std::string_view nameSpace, std::string_view name) const {
  return findObject(secrets, nameSpace, name);
}

const Backend* Model::findBackend(std::string_view group, std::string_view kind, std::string_view nameSpace,
                                  std::string_view name) const {
  const auto found = std::find_if(backends.begin(), backends.end(), [&](const Backend& backend) {
    return backend.meta.name == name && backend.meta.nameSpace == nameSpace && backend.kind == kind &&
           backend.group == group;
  });
  return found == backends.end() ? nullptr : &*found;
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

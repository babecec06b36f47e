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

const FrontendValidation* GatewayFrontend::ofPort(std::uint16_t port) const {
  const auto own =
      std::find_if(perPort.begin(), perPort.end(), [port](const FrontendPort& each) { return each.port == port; });
  const std::optional<FrontendValidation>& found = own != perPort.end() ? own->validation : byDefault;
  return found ? &*found : nullptr;
}

std::vector<const FrontendValidation*> GatewayFrontend::validations() const {
  std::vector<const FrontendValidation*> all;
  if (byDefault) all.push_back(&*byDefault);
  for (const FrontendPort& each : perPort) {
    if (each.validation) all.push_back(&*each.validation);
  }
  return all;
}

const std::string* ConfigMap::find(const std::string& key) const {
  const auto found = data.find(key);
  return found == data.end() ? nullptr : &found->second.value;
}

const base::Secret* SecretObject::find(const std::string& key) const {
  const auto found = data.find(key);
  return found == data.end() ? nullptr : &found->second;
}

base::Result<KeyPair> SecretObject::keyPair() const {
  return parseKeyPair(find(std::string(kCertificate)), find(std::string(kPrivateKey)));
}

const BackendPort* Backend::findPort(std::uint16_t number) const {
  if (hasEndpoints) return nullptr;
  if (number == 0) return ports.size() == 1 ? &ports.front() : nullptr;
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const BackendPort& port) { return port.number == number; });
  return found == ports.end() ? nullptr : &*found;
}

const Rejected* Model::findRejected(std::string_view group, std::string_view kind, std::string_view nameSpace,
                                    std::string_view name) const {
  return findRefused(rejected, group, kind, nameSpace, name);
}

const Rejected* Model::findKept(std::string_view group, std::string_view kind, std::string_view nameSpace,
                                std::string_view name) const {
  return findRefused(kept, group, kind, nameSpace, name);
}

const KeyPair* Model::findLastPair(const std::string& nameSpace, const std::string& name) const {
  const auto found = lastPairs.find({nameSpace, name});
  return found == lastPairs.end() ? nullptr : &found->second;
}

std::map<std::string, std::string> labelsOfNamespace(const Model& model, std::string_view name) {
  const Namespace* object = model.find<Namespace>({}, name);
  std::map<std::string, std::string> labels;
  if (object != nullptr) labels = object->meta.labels;
  labels["kubernetes.io/metadata.name"] = name;
  return labels;
}

}  // namespace sluice::config

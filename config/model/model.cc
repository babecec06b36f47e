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

std::map<std::string, std::string> labelsOfNamespace(const Model& model, std::string_view name) {
  const Namespace* object = model.find<Namespace>({}, name);
  std::map<std::string, std::string> labels;
  if (object != nullptr) labels = object->meta.labels;
  labels["kubernetes.io/metadata.name"] = name;
  return labels;
}

}  // namespace sluice::config

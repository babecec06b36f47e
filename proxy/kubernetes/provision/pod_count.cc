#include "proxy/kubernetes/provision/pod_count.h"

#include <algorithm>

#include "proxy/base/json_writer.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/provision/provisioned_object.h"

namespace sluice::kubernetes {
namespace {

/// Returns true if that manager has applied spec.replicas.
bool appliesCount(const content::Value* metadata, std::string_view manager) {
  const content::Value* managers = valueIn(metadata, "managedFields");
  if (managers == nullptr) return false;
  return std::any_of(managers->items.begin(), managers->items.end(), [manager](const content::Value& each) {
    return textIn(&each, "manager") == manager && textIn(&each, "operation") == "Apply" &&
           valueIn(valueIn(valueIn(&each, "fieldsV1"), "f:spec"), "f:replicas") != nullptr;
  });
}

}  // namespace

std::optional<std::string> keptPodCount(const content::Value& deployment, std::string_view manager) {
  const content::Value* metadata = valueIn(&deployment, "metadata");
  const auto count = numberIn(valueIn(&deployment, "spec"), "replicas");
  if (!count || !appliesCount(metadata, manager)) return std::nullopt;
  base::JsonWriter json;
  json.beginObject().member("apiVersion", provisioned::kDeployment.apiVersion());
  json.member("kind", provisioned::kDeployment.kind).key("metadata").beginObject();
  for (const std::string_view key : {"name", "namespace", "uid"}) json.member(key, textIn(metadata, key));
  json.endObject().key("spec").beginObject().member("replicas", *count);
  return json.endObject().endObject().take();
}

}  // namespace sluice::kubernetes

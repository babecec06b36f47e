#include "proxy/server/kubernetes/our_status.h"

#include <string_view>
#include <utility>

#include "config/status/conditions.h"
#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::server {
namespace {

std::optional<content::Value> ourEntries(const content::Value* status, std::string_view list, std::string_view name) {
  const content::Value* entries = kubernetes::valueIn(status, list);
  content::Value ours;
  ours.kind = content::Value::Kind::kList;
  if (entries == nullptr) return std::nullopt;
  for (const content::Value& each : entries->items) {
    if (kubernetes::textIn(&each, name) == config::kControllerName) ours.items.push_back(each);
  }
  return ours.items.empty() ? std::nullopt : std::optional(std::move(ours));
}

}  // namespace

std::optional<content::Value> ourStatus(const config::ObjectKind& kind, const content::Value& object) {
  const content::Value* status = kubernetes::valueIn(&object, "status");
  switch (*kind.status) {
    case config::StatusShape::kConditions:
    case config::StatusShape::kGateway:
      break;
    case config::StatusShape::kParents:
      return ourEntries(status, "parents", "controllerName");
    case config::StatusShape::kAncestors:
      return ourEntries(status, "ancestors", "controllerName");
    case config::StatusShape::kControllers:
      return ourEntries(status, "controllers", "name");
  }
  return status == nullptr ? std::nullopt : std::optional(*status);
}

}  // namespace sluice::server

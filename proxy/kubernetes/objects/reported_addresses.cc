#include "proxy/kubernetes/objects/reported_addresses.h"

#include <string>

#include "config/ground/patterns.h"
#include "config/model/model.h"
#include "proxy/content/json.h"

namespace sluice::kubernetes {

void addReportedAddresses(std::string_view gateway, std::string_view status, config::ReportedAddresses& addresses) {
  const auto read = content::parseJson(status);
  const content::Value* list = read ? read->find("addresses") : nullptr;
  if (list == nullptr) return;
  for (const content::Value& each : list->items) {
    const content::Value* value = each.find("value");
    if (value == nullptr || !config::isIpAddress(value->text)) continue;
    addresses.emplace(gateway, config::canonicalIp(value->text));
  }
}

config::ReportedAddresses reportedAddresses(const ClusterObjects& objects) {
  config::ReportedAddresses addresses;
  objects.forEach([&](const config::ObjectKind& kind, const ApiObjectKey& key, const ApiObject& object) {
    if (!kind.isOf<config::Gateway>() || object.status.empty()) return;
    addReportedAddresses(std::string(kind.kind) + " " + key.first + "/" + key.second, object.status, addresses);
  });
  return addresses;
}

}  // namespace sluice::kubernetes

#include "proxy/kubernetes/lease/lease_record.h"

#include <algorithm>
#include <limits>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {

LeaseRecord readLeaseRecord(const content::Value& lease) {
  const content::Value* spec = valueIn(&lease, "spec");
  LeaseRecord record;
  record.holderIdentity = textIn(spec, "holderIdentity");
  record.leaseDurationSeconds = numberIn(spec, "leaseDurationSeconds").value_or(0);
  record.acquireTime = textIn(spec, "acquireTime");
  record.renewTime = textIn(spec, "renewTime");
  record.leaseTransitions = numberIn(spec, "leaseTransitions").value_or(0);
  record.resourceVersion = textIn(valueIn(&lease, "metadata"), "resourceVersion");
  return record;
}

base::Duration leaseDuration(const LeaseRecord& lease, base::Duration otherwise) {
  // The API's field has 32 bits.
  const std::int64_t seconds =
      std::min<std::int64_t>(lease.leaseDurationSeconds, std::numeric_limits<std::int32_t>::max());
  return seconds > 0 ? base::Duration(std::chrono::seconds(seconds)) : otherwise;
}

void writeLeaseSpec(base::JsonWriter& json, const LeaseRecord& record) {
  json.key("spec").beginObject().member("holderIdentity", record.holderIdentity);
  json.member("leaseDurationSeconds", record.leaseDurationSeconds);
  if (!record.acquireTime.empty()) json.member("acquireTime", record.acquireTime);
  if (!record.renewTime.empty()) json.member("renewTime", record.renewTime);
  json.member("leaseTransitions", record.leaseTransitions).endObject();
}

std::string leasesPath(std::string_view nameSpace) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + std::string(nameSpace) + "/leases";
}

std::string leasePath(std::string_view nameSpace, std::string_view name) {
  return leasesPath(nameSpace) + "/" + std::string(name);
}

}  // namespace sluice::kubernetes

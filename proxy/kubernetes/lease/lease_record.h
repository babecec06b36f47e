// The content of a Lease (coordination.k8s.io/v1), by which processes show each other that they are alive.
//
// Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/base/json_writer.h"
#include "proxy/content/value.h"

namespace sluice::kubernetes {

inline constexpr std::string_view kLeaseGroup = "coordination.k8s.io";
inline constexpr std::string_view kLeaseKind = "Lease";

struct LeaseRecord {
  std::string holderIdentity;  // empty: it has no holder
  std::int64_t leaseDurationSeconds = 0;
  std::string acquireTime;  // a MicroTime as it was written; empty if there is none
  std::string renewTime;
  std::int64_t leaseTransitions = 0;
  std::string resourceVersion;

  bool operator==(const LeaseRecord&) const = default;
};

/// Reads a Lease as the API server sends it. Members that are missing or have the wrong form are left empty.
LeaseRecord readLeaseRecord(const content::Value& lease);

/// Returns for how long it is held after a change; `otherwise` if it has no duration.
base::Duration leaseDuration(const LeaseRecord& lease, base::Duration otherwise);

/// Writes the member `spec` with everything that is not empty.
void writeLeaseSpec(base::JsonWriter& json, const LeaseRecord& record);

/// Returns "/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases", to which new ones are posted.
std::string leasesPath(std::string_view nameSpace);
std::string leasePath(std::string_view nameSpace, std::string_view name);

}  // namespace sluice::kubernetes

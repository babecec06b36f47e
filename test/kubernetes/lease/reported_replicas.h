// Reports of replicas that tests of this folder share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/kubernetes/lease/replica_report.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {

inline ReplicaReport reportOfReplica(std::string replica, control::ConfigState state = control::ConfigState::kInSync) {
  ReplicaReport report;
  report.replica = std::move(replica);
  report.nameSpace = "demo";
  report.replicaOf = "egress";
  report.gateway = "demo/egress";
  report.desired = "new";
  report.served = state == control::ConfigState::kInSync ? "new" : "old";
  report.state = state;
  return report;
}

inline FailedObject failedRoute(std::string name, std::string message = "no") {
  return {"HTTPRoute", "demo", std::move(name), "r1", "BackendNotFound", std::move(message)};
}

inline content::Value leaseOfReplica(const ReplicaReport& report, std::string_view resourceVersion = "1") {
  std::string text = replicaLease(report, base::someTime());
  const std::string before = R"("metadata":{)";
  text.insert(text.find(before) + before.size(), R"("resourceVersion":")" + std::string(resourceVersion) + "\",");
  base::Result<content::Value> lease = content::parseJson(text);
  EXPECT_TRUE(lease.ok()) << text;
  return lease.ok() ? *lease : content::Value();
}

}  // namespace sluice::kubernetes

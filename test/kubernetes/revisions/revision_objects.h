// EgressRevisions and reports that tests of this folder share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "proxy/content/json.h"
#include "proxy/kubernetes/lease/replica_reports.h"
#include "proxy/kubernetes/revisions/egress_revision.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {

/// Returns an EgressRevision of Gateway demo/egress as an API server has it; `more` are further members of its spec.
inline std::string revisionItem(const std::string& revision, const std::string& more = "",
                                const std::string& status = "", const std::string& created = "2026-11-01T00:00:00Z") {
  return R"({"apiVersion":"sluice.dev/v1alpha1","kind":"EgressRevision","metadata":{"namespace":"demo","name":"egress-)" +
         revision + R"(","uid":"u-)" + revision + R"(","creationTimestamp":")" + created +
         R"("},"spec":{"gatewayRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"egress"},"revision":")" +
         revision + "\"" + more + "}" + (status.empty() ? "" : R"(,"status":)" + status) + "}";
}

inline EgressRevision revisionOf(const std::string& text, bool withData = false) {
  const auto object = content::parseJson(text);
  EXPECT_TRUE(object.ok()) << text;
  const auto read = readEgressRevision(*object, withData);
  EXPECT_TRUE(read.ok()) << (read ? "" : read.error().detail);
  return read ? *read : EgressRevision();
}

/// Returns the status that the controller writes.
inline std::string statusOf(const EgressRevision& judged) {
  const auto patch = content::parseJson(revisionStatusPatch(judged, base::someTime()));
  EXPECT_TRUE(patch.ok());
  return content::writeJson(*patch->find("status"));
}

/// The reports of replicas of Gateway demo/egress.
class ReportedObjects {
 public:
  ReportedObjects() { all.trust({"sluice-system", {{"demo/egress", {}}}}); }
  void see(const std::string& replica, const std::string& desired, const std::string& served,
           control::ConfigState state = control::ConfigState::kInSync, base::MonotonicTime now = {}) {
    ReplicaReport report;
    report.replica = replica;
    report.nameSpace = nameSpace;
    report.gateway = "demo/egress";
    report.desiredObjects = desired;
    report.servedObjects = served;
    report.state = state;
    report.servedObjectsSince = since;
    report.refusesObjects = state != control::ConfigState::kInSync && !triesAgain;
    report.refusals = state != control::ConfigState::kInSync ? 2 : 0;
    if (report.refusesObjects) {
      report.problem = "it is wrong";
      report.problemNamespace = problemNamespace;
    }
    const auto lease = content::parseJson(replicaLease(report, base::someTime(++renewals_ * std::chrono::seconds(1))));
    ASSERT_TRUE(lease.ok());
    ASSERT_TRUE(all.see(*lease, now).ok());
  }
  ReplicaReports all;
  std::string since = "once";             // servedObjectsSince of further reports
  std::string nameSpace = "demo";         // theirs
  std::string problemNamespace = "demo";  // of the object for which they refuse
  bool triesAgain = false;                // whoever refuses does not do so for good

 private:
  int renewals_ = 0;
};

}  // namespace sluice::kubernetes

#include "proxy/kubernetes/lease/replica_reporter.h"

#include <utility>

#include "proxy/kubernetes/writer/write_requests.h"

namespace sluice::kubernetes {
namespace {

constexpr int kNoLease = 404;
constexpr base::Duration kLongestLeave = std::chrono::seconds(2);

}  // namespace

ReplicaReporter::ReplicaReporter(ApiClient& client, ReplicaReporterUser& user)
    : client_(client),
      user_(user),
      writer_(client, {.longestPause = kBetweenReports, .trouble = "what this replica serves cannot be reported"},
              *this) {}

void ReplicaReporter::changed() {
  if (lease_ == Lease::kLeaving) return;
  if (key_.name.empty()) {
    const ReplicaReport report = user_.makeReport();
    key_ = {kLeaseGroup, kLeaseKind, report.nameSpace, replicaLeaseName(report.replica)};
  }
  writer_.want(key_, sentAt_ + kBetweenReports);
}

void ReplicaReporter::onTimer() {
  writer_.clear();
  std::exchange(left_, nullptr)();
}

std::optional<ApiRequest> ReplicaReporter::requestFor(const WriteKey& key) {
  std::string path = leasePath(key.nameSpace, key.name);
  if (lease_ == Lease::kLeaving) return ApiRequest{http::Method::kDelete, std::move(path)};
  sentAt_ = client_.worker().now();
  std::string body = replicaLease(user_.makeReport(), client_.worker().clock().wallNow());
  ApiRequest request = lease_ == Lease::kUnknown ? createRequest(leasesPath(key.nameSpace), std::move(body))
                                                 : mergePatchRequest(std::move(path), std::move(body));
  request.idle = kReportRenewPeriod;
  return request;
}

void ReplicaReporter::onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) {
  if (lease_ == Lease::kLeaving) {
    cancel();
    return std::exchange(left_, nullptr)();
  }
  // It may be the Lease of an earlier process of this name, and may be deleted.
  const bool isMissing = answer.ok() && answer->status == kNoLease;
  const bool isOther = lease_ == Lease::kUnknown ? outcome == WriteOutcome::kConflict : isMissing;
  if (outcome == WriteOutcome::kDone) lease_ = Lease::kThere;
  if (isOther) lease_ = lease_ == Lease::kUnknown ? Lease::kThere : Lease::kUnknown;
  writer_.want(key, sentAt_ + (isOther ? kBetweenReports : kReportRenewPeriod));
}

void ReplicaReporter::leave(std::function<void()> done) {
  const bool reported = lease_ == Lease::kThere || writer_.isWriting();  // the API server may have it already
  lease_ = Lease::kLeaving;
  writer_.clear();
  if (!reported) return done();
  left_ = std::move(done);
  writer_.want(key_);
  writer_.endPause();
  client_.worker().timers().set(*this, client_.worker().now() + kLongestLeave);
}

}  // namespace sluice::kubernetes

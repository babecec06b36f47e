#include "proxy/kubernetes/lease/replica_reporter.h"

#include <algorithm>
#include <utility>

namespace sluice::kubernetes {
namespace {

constexpr int kReportExists = 409;
constexpr int kReportMissing = 404;
constexpr base::Duration kLongestLeave = std::chrono::seconds(2);

}  // namespace

void ReplicaReporter::changed() {
  if (lease_ == Lease::kLeaving) return;
  due_ = true;
  const base::MonotonicTime now = client_.worker().now();
  if (exchange_ == nullptr) wakeAt(sentOnce_ ? std::max(now, sentAt_ + kBetweenReports) : now);
}

void ReplicaReporter::wakeAt(base::MonotonicTime at) {
  if (at <= client_.worker().now()) return send();
  client_.worker().timers().set(*this, at);
}

void ReplicaReporter::onTimer() {
  if (lease_ == Lease::kLeaving) {
    exchange_.reset();
    return std::exchange(left_, nullptr)();
  }
  if (exchange_ == nullptr) send();
}

void ReplicaReporter::send() {
  const ReplicaReport report = make_();
  leasePath_ = leasePath(report.nameSpace, replicaLeaseName(report.replica));
  ApiRequest request;
  const bool isNew = lease_ == Lease::kUnknown;
  request.method = isNew ? http::Method::kPost : http::Method::kPatch;
  request.path = isNew ? leasesPath(report.nameSpace) : leasePath_;
  request.contentType = isNew ? "application/json" : "application/merge-patch+json";
  request.body = replicaLease(report, client_.worker().clock().wallNow());
  request.idle = kReportRenewPeriod;
  due_ = false;
  sentOnce_ = true;
  sentAt_ = client_.worker().now();
  exchange_ =
      std::make_unique<ApiExchange>(client_, request, [this](base::Result<ApiAnswer>&& answer) { answered(answer); });
}

void ReplicaReporter::answered(const base::Result<ApiAnswer>& answer) {
  const std::unique_ptr<ApiExchange> exchange = std::move(exchange_);
  if (lease_ == Lease::kLeaving) {
    cancel();
    return std::exchange(left_, nullptr)();
  }
  base::Duration pause = kReportRenewPeriod;
  if (answer.ok() && answer->ok()) {
    lease_ = Lease::kThere;
    told_.clear();
  } else if (answer.ok() && answer->status == kReportExists && lease_ == Lease::kUnknown) {
    lease_ = Lease::kThere;  // of an earlier process of this name
    due_ = true;
  } else if (answer.ok() && answer->status == kReportMissing && lease_ == Lease::kThere) {
    lease_ = Lease::kUnknown;
    due_ = true;
  } else {
    const std::string reason = answer.ok() ? answer->fault() : answer.error().detail;
    if (std::exchange(told_, reason) != reason) {
      client_.log().warn("what this replica serves cannot be reported", {{"reason", reason}});
    }
  }
  if (due_) pause = kBetweenReports;
  client_.worker().timers().set(*this, sentAt_ + pause);
}

void ReplicaReporter::leave(std::function<void()> done) {
  const bool reported = lease_ == Lease::kThere || exchange_ != nullptr;  // the API server may have it already
  lease_ = Lease::kLeaving;
  exchange_.reset();
  cancel();
  if (!reported) return done();
  left_ = std::move(done);
  ApiRequest request;
  request.method = http::Method::kDelete;
  request.path = leasePath_;
  exchange_ =
      std::make_unique<ApiExchange>(client_, request, [this](base::Result<ApiAnswer>&& answer) { answered(answer); });
  client_.worker().timers().set(*this, client_.worker().now() + kLongestLeave);
}

}  // namespace sluice::kubernetes

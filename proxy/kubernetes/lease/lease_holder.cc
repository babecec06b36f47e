#include "proxy/kubernetes/lease/lease_holder.h"

#include <algorithm>
#include <utility>

#include "proxy/kubernetes/writer/write_requests.h"

namespace sluice::kubernetes {
namespace {

constexpr int kLeaseAbsent = 404;
constexpr int kLeaseConflict = 409;

}  // namespace

LeaseHolder::LeaseHolder(ApiClient& client, Candidacy candidacy, LeadershipUser& user)
    : client_(client), candidacy_(candidacy), user_(user), election_(std::move(candidacy), client.random() | 1) {}

void LeaseHolder::release(std::function<void()> done) {
  released_ = std::move(done);
  election_.release(client_.worker().now());
  step();
}

void LeaseHolder::onTimer() {
  if (exchange_ != nullptr && client_.worker().now() >= giveUpAt_) {
    exchange_.reset();
    tellFault("no answer in time");
    election_.failed(client_.worker().now());
  }
  step();
}

/// Performs the next step, and sets the timer for the one after that.
void LeaseHolder::step() {
  const base::MonotonicTime now = client_.worker().now();
  base::MonotonicTime wake = exchange_ != nullptr ? giveUpAt_ : base::MonotonicTime::max();
  if (exchange_ == nullptr) {
    const LeaderElection::Action action = election_.next(now, client_.worker().clock().wallNow());
    switch (action.step) {
      case LeaderElection::Step::kWait:
        wake = action.at;
        break;
      case LeaderElection::Step::kRead:
      case LeaderElection::Step::kCreate:
      case LeaderElection::Step::kUpdate:
        send(action);
        wake = giveUpAt_;
        break;
      case LeaderElection::Step::kDone:
        cancel();
        tell();
        if (released_) std::exchange(released_, nullptr)();
        return;
    }
  }
  tell();
  if (leads_) wake = std::min(wake, election_.leaderUntil());
  if (wake != base::MonotonicTime::max()) client_.worker().timers().set(*this, wake);
}

void LeaseHolder::send(const LeaderElection::Action& action) {
  const std::string path = leasePath(candidacy_.nameSpace, candidacy_.lease);
  ApiRequest request;
  request.path = path;
  if (action.step == LeaderElection::Step::kCreate) {
    request = createRequest(leasesPath(candidacy_.nameSpace), action.body);
  } else if (action.step == LeaderElection::Step::kUpdate) {
    request = mergePatchRequest(path, action.body);
  }
  request.idle = LeaderElection::kRequestTimeout;
  giveUpAt_ = client_.worker().now() + LeaderElection::kRequestTimeout;
  exchange_ = std::make_unique<ApiExchange>(
      client_, request, [this, step = action.step](base::Result<ApiAnswer>&& answer) { answered(step, answer); });
}

void LeaseHolder::answered(LeaderElection::Step done, const base::Result<ApiAnswer>& answer) {
  const std::unique_ptr<ApiExchange> exchange = std::move(exchange_);
  const base::MonotonicTime now = client_.worker().now();
  if (answer.ok() && answer->ok()) {
    told_.clear();
    done == LeaderElection::Step::kRead ? election_.read(readLeaseRecord(answer->body), now)
                                        : election_.written(readLeaseRecord(answer->body), now);
  } else if (answer.ok() && answer->status == kLeaseConflict) {
    election_.conflicted(now);
  } else if (answer.ok() && answer->status == kLeaseAbsent && done != LeaderElection::Step::kCreate) {
    election_.absent(now);
  } else {
    tellFault(answer.ok() ? answer->fault() : answer.error().detail);
    election_.failed(now);
  }
  step();
}

/// Logs once why this process cannot lead.
void LeaseHolder::tellFault(const std::string& reason) {
  if (std::exchange(told_, reason) == reason) return;
  client_.log().warn("the Lease can be neither taken nor renewed",
                     {{"lease", candidacy_.nameSpace + "/" + candidacy_.lease}, {"reason", reason}});
}

void LeaseHolder::tell() {
  const bool leads = election_.isLeader(client_.worker().now());
  if (std::exchange(leads_, leads) != leads) user_.onLeads(leads);
}

}  // namespace sluice::kubernetes

#include "proxy/kubernetes/status/event_publisher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/kubernetes/lease/leader_election.h"

namespace sluice::kubernetes {
namespace {

constexpr std::string_view kServeAction = "Serve";
constexpr int kEventConflict = 409;
constexpr int kEventMissing = 404;
constexpr int kEventsThrottled = 429;
constexpr int kEventFault = 500;

EventOutcome outcomeOf(const base::Result<ApiAnswer>& answer) {
  if (!answer.ok() || answer->status >= kEventFault || answer->status == kEventsThrottled) return EventOutcome::kFailed;
  if (answer->ok()) return EventOutcome::kDone;
  if (answer->status == kEventConflict) return EventOutcome::kExists;
  return answer->status == kEventMissing ? EventOutcome::kMissing : EventOutcome::kRefused;
}

}  // namespace

void EventPublisher::publish(const observe::Event& event) {
  const std::string object = event.object.empty() ? "GatewayClass " + objects_.firstClass() : event.object;
  std::optional<EventRegarding> regarding = regardingOf(object);
  if (!regarding) return;
  const ApiObjectKey key{regarding->nameSpace, regarding->name};
  const FollowedCollection* collection = objects_.collectionOf(regarding->kind, key);
  if (collection == nullptr) return;
  const std::string group(collection->kind().group);
  regarding->apiVersion = (group.empty() ? "" : group + "/") + std::string(collection->version());
  regarding->uid = collection->find(key)->uid;
  events_.note(event, *regarding, kServeAction, client_.worker().now());
  send();
}

void EventPublisher::publishIfLeading(const observe::Event& event) {
  if (leads_) return publish(event);
  if (kept_.size() >= kMostKeptEvents) kept_.pop_front();
  kept_.emplace_back(client_.worker().now(), event);
}

void EventPublisher::lead(bool leads) {
  leads_ = leads;
  if (!leads) return;
  const base::MonotonicTime oldest = client_.worker().now() - LeaderElection::kLeaseDuration;
  for (const auto& [cameAt, event] : std::exchange(kept_, {})) {
    if (cameAt >= oldest) publish(event);
  }
}

void EventPublisher::send() {
  const base::MonotonicTime now = client_.worker().now();
  if (open_.size() < kMostOpenEvents) {
    for (EventWrite& write : events_.take(now, kMostOpenEvents - open_.size())) {
      ApiRequest request;
      request.path = std::move(write.path);
      if (write.verb != EventWrite::Verb::kRead) {
        const bool creates = write.verb == EventWrite::Verb::kCreate;
        request.method = creates ? http::Method::kPost : http::Method::kPatch;
        request.contentType = creates ? "application/json" : "application/merge-patch+json";
        request.body = std::move(write.body);
      }
      open_[write.event] = std::make_unique<ApiExchange>(
          client_, request, [this, event = write.event](base::Result<ApiAnswer>&& answer) { sent(event, answer); });
    }
  }
  client_.metrics().at<observe::Metric::kEventsDropped>().add(events_.takeDropped());
  if (open_.size() >= kMostOpenEvents) return;  // the next answer sends
  if (const base::MonotonicTime due = events_.nextDue(now); due != base::MonotonicTime::max()) {
    client_.worker().timers().set(*this, due);
  }
}

void EventPublisher::sent(const std::string& event, const base::Result<ApiAnswer>& answer) {
  const auto done = open_.extract(event);
  events_.done(event, outcomeOf(answer), answer.ok() ? &answer->body : nullptr, client_.worker().now());
  if (outcomeOf(answer) == EventOutcome::kRefused && std::exchange(told_, answer->fault()) != answer->fault()) {
    client_.log().warn("an Event cannot be written", {{"event", event}, {"reason", answer->fault()}});
  }
  send();
}

}  // namespace sluice::kubernetes

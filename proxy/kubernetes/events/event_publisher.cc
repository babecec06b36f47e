#include "proxy/kubernetes/events/event_publisher.h"

#include <algorithm>
#include <utility>

#include "proxy/control/report/condition_log.h"
#include "proxy/kubernetes/lease/leader_election.h"

namespace sluice::kubernetes {
namespace {

constexpr std::string_view kServeAction = "Serve";

EventOutcome eventOutcome(WriteOutcome outcome) {
  if (outcome == WriteOutcome::kBusy || outcome == WriteOutcome::kNoAnswer) return EventOutcome::kFailed;
  if (outcome == WriteOutcome::kDone) return EventOutcome::kDone;
  if (outcome == WriteOutcome::kConflict) return EventOutcome::kExists;
  return outcome == WriteOutcome::kMissing ? EventOutcome::kMissing : EventOutcome::kRefused;
}

}  // namespace

// EventObjects decides how long an event waits; it delays no other event.
EventPublisher::EventPublisher(ApiClient& client, const ClusterObjects& objects, observe::EventRing& ring,
                               const Instance& instance)
    : client_(client),
      objects_(objects),
      ring_(ring),
      controls_(instance.controls),
      events_(instance.name),
      writer_(client, {.most = kMostOpenEvents, .trouble = "an Event cannot be written"}, *this) {
  ring.onEvent([this](const observe::Event& event) { onEvent(event); });
}

void EventPublisher::onEvent(const observe::Event& event) {
  if (event.type != observe::EventType::kWarning) return publishRecovery(event);
  if (event.reason != control::kNotFullyServed) return publishFault(event);
  if (controls_) publishIfLeading(event);
}

void EventPublisher::publishFault(const observe::Event& event) {
  const auto known = std::find_if(kPassingFaults.begin(), kPassingFaults.end(),
                                  [&](const PassingFault& each) { return each.warning == event.reason; });
  if (!publish(event) || known == kPassingFaults.end()) return;
  faults_.emplace(known->warning, event.object);
  if (faults_.size() < mostFaults_) return;
  std::erase_if(faults_, [this](const auto& fault) { return !isInCluster(fault.second); });
  mostFaults_ = std::max(kFewFaults, 2 * faults_.size());
}

// An object may have several endpoints or uses that recover one after the other, so its fault is not forgotten.
void EventPublisher::publishRecovery(const observe::Event& event) {
  const auto known = std::find_if(kPassingFaults.begin(), kPassingFaults.end(),
                                  [&](const PassingFault& each) { return each.recovery == event.reason; });
  if (known != kPassingFaults.end() && faults_.contains({known->warning, event.object})) publish(event);
}

bool EventPublisher::isInCluster(std::string_view object) const {
  const std::optional<EventRegarding> regarding = regardingOf(object);
  return regarding && objects_.collectionOf(regarding->kind, {regarding->nameSpace, regarding->name}) != nullptr;
}

void EventPublisher::tell(const observe::Event& event) {
  ring_.note(event);
  if (event.type != observe::EventType::kWarning) publish(event);  // warnings of the ring are taken anyway
}

bool EventPublisher::publish(const observe::Event& event) {
  const std::string object = event.object.empty() ? "GatewayClass " + objects_.firstClass() : event.object;
  std::optional<EventRegarding> regarding = regardingOf(object);
  if (!regarding) return false;
  const ApiObjectKey key{regarding->nameSpace, regarding->name};
  const FollowedCollection* collection = objects_.collectionOf(regarding->kind, key);
  if (collection == nullptr) return false;
  const std::string group(collection->kind().group);
  regarding->apiVersion = (group.empty() ? "" : group + "/") + std::string(collection->version());
  regarding->uid = collection->find(key)->uid;
  events_.note(event, *regarding, kServeAction, client_.worker().now());
  send();
  return true;
}

void EventPublisher::publishIfLeading(const observe::Event& event) {
  if (leads_) return static_cast<void>(publish(event));
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
  if (writer_.size() < kMostOpenEvents) {
    for (EventWrite& write : events_.take(now, kMostOpenEvents - writer_.size())) {
      const std::size_t slash = write.event.find('/');
      const WriteKey key{"events.k8s.io", "Event", write.event.substr(0, slash), write.event.substr(slash + 1)};
      requests_.insert_or_assign(key, std::move(write.request));
      writer_.want(key);
    }
  }
  client_.metrics().at<observe::Metric::kEventsDropped>().add(events_.takeDropped());
  if (writer_.size() >= kMostOpenEvents) return;  // the next answer sends
  if (const base::MonotonicTime due = events_.nextDue(now); due != base::MonotonicTime::max()) {
    client_.worker().timers().set(*this, due);
  }
}

std::optional<ApiRequest> EventPublisher::requestFor(const WriteKey& key) {
  return std::move(requests_.extract(key).mapped());
}

void EventPublisher::onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) {
  events_.done(key.nameSpace + "/" + key.name, eventOutcome(outcome), answer.ok() ? &answer->body : nullptr,
               client_.worker().now());
  send();
}

}  // namespace sluice::kubernetes

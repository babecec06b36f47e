// Writes the warnings of this process, the recoveries after them, and the decisions of its controller, as events to the
// cluster: it sends the requests of EventObjects (event_objects.h) when they are due.
//
// Only the controller that leads publishes the results of a compilation, because every replica has the same ones. A
// reload that succeeds is not published, and neither is a Backend that was healthy all the time.
//
// Lives on the main thread.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/kubernetes/events/event_objects.h"
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/writer/object_writer.h"
#include "proxy/net/timers.h"
#include "proxy/observe/events.h"

namespace sluice::kubernetes {

/// A fault that may pass: the warning, and the event of type Normal that is published after it. No other event of that
/// type is taken from the ring.
struct PassingFault {
  std::string_view warning;
  std::string_view recovery;
};
inline constexpr auto kPassingFaults = std::to_array<PassingFault>({
    {"BackendUnhealthy", "BackendHealthy"},
    {"BackendUnreachable", "BackendReachable"},
    {"ProcessorFailed", "ProcessorRecovered"},
});

class EventPublisher final : private ObjectWriterUser, private net::Timer {
 public:
  struct Instance {
    std::string name;       // the name of this process among those that report events
    bool controls = false;  // it is a controller
  };
  /// References outlive it. It takes the warnings of `ring` from now on.
  EventPublisher(ApiClient& client, const ClusterObjects& objects, observe::EventRing& ring, const Instance& instance);

  /// Reports a decision of the controller to the process's own list of events and to the cluster; inside a Turn.
  void tell(const observe::Event& event);
  /// Called with whether this controller leads; inside a Turn.
  void lead(bool leads);

 private:
  static constexpr std::size_t kMostOpenEvents = 8;
  static constexpr std::size_t kMostKeptEvents = 100;
  static constexpr std::size_t kFewFaults = 1000;

  void onTimer() override { send(); }
  void onEvent(const observe::Event& event);
  /// Takes an event, with the occurrences since its last report. An event about the process as a whole concerns the
  /// first of our GatewayClasses. An event about something that is no object of the cluster is left out. Returns
  /// whether it was taken.
  bool publish(const observe::Event& event);
  /// Takes a warning. Another event may say later that the object has recovered.
  void publishFault(const observe::Event& event);
  void publishRecovery(const observe::Event& event);
  bool isInCluster(std::string_view object) const;
  /// Takes an event that every controller knows and only the leader publishes. If this one does not lead, it keeps the
  /// newest events, because a leader that has just ended may not have published them.
  void publishIfLeading(const observe::Event& event);
  void send();
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;

  ApiClient& client_;
  const ClusterObjects& objects_;
  observe::EventRing& ring_;
  const bool controls_;
  EventObjects events_;
  bool leads_ = false;
  /// The reason and the object of each fault that was published and may pass. Objects that are gone are removed when
  /// there are twice as many as were left the last time.
  std::set<std::pair<std::string_view, std::string>> faults_;
  std::size_t mostFaults_ = kFewFaults;
  std::deque<std::pair<base::MonotonicTime, observe::Event>> kept_;  // with the time at which each came
  std::map<WriteKey, ApiRequest> requests_;                          // requests that have not been sent
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes

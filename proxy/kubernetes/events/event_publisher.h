// Tells the cluster of events: sends the requests of EventObjects (event_objects.h) when they are due.
//
// Lives on the main thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/events/event_objects.h"
#include "proxy/kubernetes/writer/object_writer.h"
#include "proxy/net/timers.h"
#include "proxy/observe/events.h"

namespace sluice::kubernetes {

class EventPublisher final : private ObjectWriterUser, private net::Timer {
 public:
  /// References outlive it. `instance` names this process among all that report.
  EventPublisher(ApiClient& client, const ClusterObjects& objects, std::string_view instance);

  /// Takes an event, with the occurrences since it was told last; inside a Turn. One about the process as a whole
  /// concerns the first of our GatewayClasses, and one about what is no object of the cluster is left out.
  void publish(const observe::Event& event);
  /// Takes an event that every controller knows of and only the one that leads publishes. Until this one does, it keeps
  /// the newest ones: in the last moments of another leader, nobody may have published them.
  void publishIfLeading(const observe::Event& event);
  /// Says whether this controller leads; inside a Turn.
  void lead(bool leads);

 private:
  static constexpr std::size_t kMostOpenEvents = 8;
  static constexpr std::size_t kMostKeptEvents = 100;

  void onTimer() override { send(); }
  void send();
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;

  ApiClient& client_;
  const ClusterObjects& objects_;
  EventObjects events_;
  bool leads_ = false;
  std::deque<std::pair<base::MonotonicTime, observe::Event>> kept_;  // with the time at which each came
  std::map<WriteKey, ApiRequest> requests_;                          // that have not been sent
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes

// Tells the cluster of events: the requests and timers of EventObjects (event_objects.h).
//
// Lives on the main thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/status/event_objects.h"
#include "proxy/net/timers.h"
#include "proxy/observe/events.h"

namespace sluice::kubernetes {

class EventPublisher final : private net::Timer {
 public:
  /// References outlive it. `instance` names this process among all that report.
  EventPublisher(ApiClient& client, const ClusterObjects& objects, std::string_view instance)
      : client_(client), objects_(objects), events_(instance) {}

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
  void sent(const std::string& event, const base::Result<ApiAnswer>& answer);

  ApiClient& client_;
  const ClusterObjects& objects_;
  EventObjects events_;
  bool leads_ = false;
  std::deque<std::pair<base::MonotonicTime, observe::Event>> kept_;  // with the time at which each came
  std::map<std::string, std::unique_ptr<ApiExchange>> open_;         // by event
  std::string told_;
};

}  // namespace sluice::kubernetes

// The events of a process, and their publisher in a cluster without objects.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/events/event_publisher.h"
#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {

class ToldEvents {
 public:
  explicit ToldEvents(ApiRig& rig)
      : ring_(rig.client.log(), rig.client.metrics()),
        objects_(rig.client, {}),
        publisher_(rig.client, objects_, ring_, {"sluice", true}) {}

  EventPublisher& publisher() { return publisher_; }
  /// Returns the reason of each event in the order in which they came, once for each publication.
  std::vector<std::string> reasons() const {
    std::vector<std::string> all;
    const auto document = content::parseJson(ring_.document(), {});
    if (!document.ok()) return {"the document cannot be read"};
    for (const content::Value& each : document->items) {
      all.insert(all.end(), std::stoul(each.find("count")->text), std::string(textIn(&each, "reason")));
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

 private:
  observe::EventRing ring_;
  ClusterObjects objects_;
  EventPublisher publisher_;
};

}  // namespace sluice::kubernetes

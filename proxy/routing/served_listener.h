// The listener that a request came in by: how logs and metrics name it, and the steps that it puts every request
// through. Made by compile(); whoever uses it beyond the life of its snapshot shares it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/processing/chain.h"

namespace sluice::routing {

struct ServedListener : std::enable_shared_from_this<ServedListener> {
  std::string gateway;  // "namespace/name"
  std::string section;
  std::uint16_t port = 0;
  /// Of those that run before a route is matched (P-22); may be null.
  std::shared_ptr<const processing::Chain> preRouting;
  std::shared_ptr<const processing::Chain>
      chain;  // of other PayloadProcessors that target it or its Gateway; may be null
};

}  // namespace sluice::routing

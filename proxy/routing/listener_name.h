// The listener that a request came in by, as logs and metrics name it. Made by compile(); whoever uses it beyond the
// life of its snapshot shares it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sluice::routing {

struct ListenerName : std::enable_shared_from_this<ListenerName> {
  std::string gateway;  // "namespace/name"
  std::string section;
  std::uint16_t port = 0;
};

}  // namespace sluice::routing

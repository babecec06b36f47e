// The priority that a client wants its response to have (RFC 9218 section 4). Values only; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::http {

struct H2Priority {
  std::uint8_t urgency = 3;  // 0 (first) to 7
  bool incremental = false;  // the response is of use in pieces, so it shares the connection with others of its urgency
};

/// Reads the value of a Priority field. Parameters that it lacks, or that are malformed, have their defaults.
H2Priority readPriority(std::string_view value);

}  // namespace sluice::http

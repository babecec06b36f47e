// The answers of a server as plain values, which have been checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filters/ext_proc/parts.h"
#include "proxy/base/clock.h"

namespace sluice::filters::ext_proc {

/// One header that a server sets.
struct HeaderChange {
  enum class Action : std::uint8_t { kAppend, kAddIfAbsent, kOverwrite, kOverwriteIfPresent };
  std::string name;  // in lower case
  std::string value;
  Action action = Action::kAppend;
};

/// The changes of header fields that a server wants in a head or in trailers, without those of fields that belong to
/// the gateway: framing, hop-by-hop fields, Host, :authority, :method and :scheme, and x-envoy fields.
struct HeaderChanges {
  static constexpr std::size_t kMost = 256;                          // changes
  static constexpr std::size_t kMostBytes = std::size_t{64} * 1024;  // of their names and values

  std::vector<HeaderChange> set;
  std::vector<std::string> remove;
  std::optional<std::string> path;      // :path of a request
  std::optional<std::uint16_t> status;  // :status of a response

  bool any() const { return !set.empty() || !remove.empty() || path || status; }
};

/// The answer to a part.
struct PartAnswer {
  Part part = Part::kRequestHeaders;
  bool replaces = false;  // CONTINUE_AND_REPLACE: the server does not want further parts of this request or response
  bool holds = false;     // the server keeps the part until a later answer lets it go
  HeaderChanges headers;
  std::optional<std::string> body;  // replaces the body that was sent; none: that body stays
  bool streams = false;             // `body` is the next piece of the body that a server in full duplex gives
  bool ends = false;                // `body` is the last piece
  bool clearsRoute = false;
};

/// The answer to the client, instead of that of the Backend.
struct ImmediateAnswer {
  std::uint16_t status = 0;  // 200 to 599
  HeaderChanges headers;
  std::string body;
  std::optional<std::uint32_t> grpcStatus;
};

struct ServerAnswer {
  // One of these three is set.
  std::optional<PartAnswer> part;
  std::optional<ImmediateAnswer> immediate;
  std::optional<base::Duration> patience;  // the server asks for this much time for its next answer

  std::optional<ProcessingModes> modes;                         // the parts that the server wants from here on
  std::vector<std::pair<std::string, std::string>> hints = {};  // for route matching: names in lower case, and values
};

}  // namespace sluice::filters::ext_proc

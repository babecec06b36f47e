// The messages of Envoy's external processing as plain values: what the gateway says, in the bytes of the wire, and
// what a server answers, checked.
//
// Pure functions. Only messages.cc sees the generated classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/http/message.h"
#include "proxy/processing/call.h"

namespace sluice::filters::ext_proc {

/// A part of a request or response that a server is told of, and answers to.
enum class Part : std::uint8_t { kRequestHeaders, kRequestBody, kResponseHeaders, kResponseBody };
/// Returns "request headers" and so on.
std::string_view partName(Part part);

/// How a server gets a body.
enum class BodyForm : std::uint8_t {
  kSkipped,
  kStreamed,        // piece by piece; each waits for its answer
  kBuffered,        // whole, in one message
  kBufferedPartial  // as much of it as fits, in one message; the rest passes
};

/// Which parts a server gets.
struct ProcessingModes {
  bool requestHeaders = true;
  BodyForm requestBody = BodyForm::kSkipped;
  bool responseHeaders = true;
  BodyForm responseBody = BodyForm::kSkipped;

  friend bool operator==(const ProcessingModes&, const ProcessingModes&) = default;
};

/// An Introduction is what the first message of a stream says besides its part.
struct Introduction {
  ProcessingModes modes;
  /// Values for the server, as metadata of the namespace "sluice.dev": a map, or null if there is nothing to say.
  const content::Value& context;
  const processing::Place& place;
};

/// Return the bytes of a ProcessingRequest. `introduction` is null behind the first message. Pseudo-header fields come
/// first among the headers; `ends` is true if no body follows.
std::string requestHeadersMessage(const http::RequestHead& head, bool ends, const Introduction* introduction);
std::string responseHeadersMessage(const http::ResponseHead& head, bool ends, const Introduction* introduction);
std::string bodyMessage(Part part, std::string body, bool ends, const Introduction* introduction);

/// One header that a server sets.
struct HeaderChange {
  enum class Action : std::uint8_t { kAppend, kAddIfAbsent, kOverwrite, kOverwriteIfPresent };
  std::string name;  // in lower case
  std::string value;
  Action action = Action::kAppend;
};

/// HeaderChanges are those that a server wants in a head. Changes of what belongs to the gateway are left out: framing,
/// hop-by-hop fields, Host, :authority, :method and :scheme, and x-envoy fields.
struct HeaderChanges {
  static constexpr std::size_t kMost = 256;                          // changes
  static constexpr std::size_t kMostBytes = std::size_t{64} * 1024;  // of their names and values

  std::vector<HeaderChange> set;
  std::vector<std::string> remove;
  std::optional<std::string> path;      // :path of a request
  std::optional<std::uint16_t> status;  // :status of a response
};

/// The answer to a part.
struct PartAnswer {
  Part part = Part::kRequestHeaders;
  bool replaces = false;  // CONTINUE_AND_REPLACE: the server wants no more of this request or response
  HeaderChanges headers;
  std::optional<std::string> body;  // in the place of what it was sent; none: that stays
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
  std::optional<PartAnswer> part;
  std::optional<ImmediateAnswer> immediate;  // exactly one of them is set
  std::optional<ProcessingModes> modes;      // mode_override, where the server sends one
};

/// Reads a ProcessingResponse. Errors are the processor's, and say what is wrong with the answer: bytes that are no
/// message, no answer or an unknown one, names or values of fields outside RFC 9110's grammar, a status that no answer
/// may have, more than HeaderChanges takes.
base::Result<ServerAnswer> readServerAnswer(std::string_view message);

}  // namespace sluice::filters::ext_proc

// The parts of a request and of its response that an external processor gets.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::filters::ext_proc {

/// A part of a request or response that is sent to a server, which answers it.
enum class Part : std::uint8_t {
  kRequestHeaders,
  kRequestBody,
  kRequestTrailers,
  kResponseHeaders,
  kResponseBody,
  kResponseTrailers
};

/// The request and the response are two ways: a response may begin while the request's body is still coming.
enum class Way : std::uint8_t { kRequest, kResponse };
constexpr Way wayOf(Part part) { return part <= Part::kRequestTrailers ? Way::kRequest : Way::kResponse; }
constexpr Part headersOf(Way way) { return way == Way::kRequest ? Part::kRequestHeaders : Part::kResponseHeaders; }
constexpr Part bodyOf(Way way) { return way == Way::kRequest ? Part::kRequestBody : Part::kResponseBody; }
constexpr Part trailersOf(Way way) { return way == Way::kRequest ? Part::kRequestTrailers : Part::kResponseTrailers; }
constexpr bool isHeaders(Part part) { return part == Part::kRequestHeaders || part == Part::kResponseHeaders; }
constexpr bool isBody(Part part) { return part == Part::kRequestBody || part == Part::kResponseBody; }

/// How a server gets a body.
enum class BodyForm : std::uint8_t {
  kSkipped,
  kStreamed,         // piece by piece; each has an answer of its own
  kBuffered,         // whole, in one message
  kBufferedPartial,  // as much of it as fits, in one message; later bytes pass without the server
  kFullDuplex        // piece by piece; the server gives another body in its own time
};

/// The parts of one way that a server gets.
struct WayModes {
  bool headers = true;
  BodyForm body = BodyForm::kSkipped;
  bool trailers = false;

  bool any() const { return headers || body != BodyForm::kSkipped || trailers; }
  friend bool operator==(const WayModes&, const WayModes&) = default;
};

struct ProcessingModes {
  WayModes request;
  WayModes response;

  WayModes& of(Way way) { return way == Way::kRequest ? request : response; }
  const WayModes& of(Way way) const { return way == Way::kRequest ? request : response; }
  friend bool operator==(const ProcessingModes&, const ProcessingModes&) = default;
};

}  // namespace sluice::filters::ext_proc

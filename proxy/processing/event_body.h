// A streamed body as server-sent events: a step sees each event when it is complete, and decides whether it goes on.
//
// An EventBody is part of a step's state (Call::state()). An incomplete event is held back, within a bound.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/content/sse.h"
#include "proxy/processing/body.h"
#include "proxy/processing/verdict.h"

namespace sluice::processing {

/// The decision about one event.
struct EventFate {
  static EventFate keep() { return {}; }
  static EventFate drop() { return {true, std::nullopt}; }
  /// The event goes on with other data; its other lines stay as they are.
  static EventFate withData(std::string data) { return {false, std::move(data)}; }

  bool dropped = false;
  std::optional<std::string> data;
};

class EventBody {
 public:
  /// `mostBytes` bounds one event.
  explicit EventBody(std::size_t mostBytes) : parser_(mostBytes) {}

  /// Calls visit(event) -> EventFate for each event that `body` completes. When the body ends, its last bytes are an
  /// event too, although no empty line ends it: there are clients that read it. Each piece must be taken once, and not
  /// again when the step has waited. Fails (Cause::kOverLimit) if an event is longer than the bound.
  template <typename Visit>
  Verdict take(Body& body, Visit&& visit) {
    const std::string whole = body.bytes().text();
    std::string_view left = whole;
    std::string released;
    while (true) {
      const content::SseParser::Status status = parser_.feed(left);
      if (status == content::SseParser::Status::kMore) break;
      if (status == content::SseParser::Status::kTooLong) {
        return Verdict::fail("an event of the body is too long", Cause::kOverLimit);
      }
      append(visit(parser_.event()), released);
    }
    if (body.last() && parser_.finish()) append(visit(parser_.event()), released);
    if (body.last()) released += parser_.rest();
    body.replacement().append(released);
    return Verdict::goOn();
  }

 private:
  void append(const EventFate& fate, std::string& to) const {
    if (fate.dropped) return;
    if (fate.data) {
      to += content::sseEventWithData(parser_.event().raw, *fate.data);
    } else {
      to += parser_.event().raw;
    }
  }

  content::SseParser parser_;
};

}  // namespace sluice::processing

// Server-sent events (WHATWG HTML section 9.2): a body taken apart into events while it streams, each with the bytes
// that it was written in, and what a changed event is written as.
//
// A parser is owned by whoever reads one body; one thread; sans-IO. Its memory is the event under way, which is
// bounded. Text passes as the bytes that it is: what is no UTF-8 stays so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/result.h"

namespace sluice::content {

/// The fields of one event; absent if no line gives them. Views into the parser, until its next feed().
struct SseEvent {
  std::optional<std::string_view> event;
  /// All of its lines, joined by LF. A client sees no event without it.
  std::optional<std::string_view> data;
  std::optional<std::string_view> id;     // never with a NUL: clients ignore such a line
  std::optional<std::string_view> retry;  // milliseconds, as decimal digits; clients ignore other lines
  /// The event as it came, the empty line at its end included. Those of all events and rest() are, one after the other,
  /// the body: comments, unknown fields, a byte order mark and empty lines in between belong to the event that follows,
  /// as does the LF of a CRLF that was cut after an event's end.
  std::string_view raw;
};

class SseParser {
 public:
  enum class Status : std::uint8_t {
    kMore,     // all input is taken, and no event is complete
    kEvent,    // one is: event(). Ask again with what is left of the input
    kTooLong,  // the event under way passes the bound; stays so. rest() and what is left of the input are the body's
               // rest
  };

  /// Bytes of one event as it came, where CRLF counts as one, so that it does not matter how a body is cut.
  explicit SseParser(std::size_t mostBytes) : mostBytes_(mostBytes) {}
  SseParser(const SseParser&) = delete;
  SseParser& operator=(const SseParser&) = delete;

  /// Takes bytes off `in`, up to the end of one event. An event ends as soon as it can: a CR is not held back for the
  /// LF that may follow it.
  Status feed(std::string_view& in);
  /// The last one; valid after kEvent.
  const SseEvent& event() const { return event_; }
  /// Bytes taken that belong to no event yet. When the body ends they are of an incomplete one, which clients discard.
  std::string_view rest() const { return complete_ ? std::string_view() : std::string_view(buffer_); }

 private:
  bool take(std::string_view& in, std::size_t count);
  void skipLineFeed(std::string_view& in);
  bool endsEvent() const;
  void beginEvent();
  void readFields();

  const std::size_t mostBytes_;
  std::string buffer_;  // the event under way
  std::string data_;    // of several lines
  SseEvent event_;
  std::size_t counted_ = 0;    // of buffer_, against the bound
  std::size_t lineBegin_ = 0;  // in buffer_
  bool afterCr_ = false;       // an LF that comes next is of the same line end
  bool complete_ = false;
  bool first_ = true;  // of the body: may begin with a byte order mark
  bool tooLong_ = false;
};

/// Appends the event with the fields that are there; `raw` is not looked at. Every line break in `data` becomes one of
/// its lines. An error if another field has a line break, `id` a NUL, or `retry` something other than digits.
base::Status writeSseEvent(const SseEvent& event, std::string& out);

/// The event `raw` with other data: its other lines stay as they are, byte for byte.
std::string sseEventWithData(std::string_view raw, std::string_view data);

}  // namespace sluice::content

// Server-sent events (WHATWG HTML section 9.2): splits a body into events while it streams, each with its original
// bytes, and writes changed events.
//
// A parser is owned by the reader of one body; one thread; sans-IO. Its memory is the event under way, which is
// bounded. Text passes as raw bytes: bytes that are no UTF-8 are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/result.h"

namespace sluice::content {

/// The fields of one event; absent if no line gives them. Views into the parser, valid until its next feed().
struct SseEvent {
  std::optional<std::string_view> event;
  /// All data lines, joined by LF. A client sees no event without it.
  std::optional<std::string_view> data;
  std::optional<std::string_view> id;     // never with a NUL: clients ignore such a line
  std::optional<std::string_view> retry;  // milliseconds, as decimal digits; clients ignore other lines
  /// The original bytes of the event, including the empty line at its end. The raw bytes of all events, followed by
  /// rest(), are the body: comments, unknown fields, a byte order mark and empty lines in between belong to the event
  /// that follows, as does the LF of a CRLF that was cut after an event's end.
  std::string_view raw;
};

class SseParser {
 public:
  enum class Status : std::uint8_t {
    kMore,     // all input is taken, and no event is complete
    kEvent,    // an event is complete: see event(). Call again with the rest of the input
    kTooLong,  // the event under way exceeds the bound; every later call fails too. The rest of the body is rest()
               // and the rest of the input
  };

  /// `mostBytes` bounds the bytes of one event. CRLF is counted as one byte, so that it does not matter how a body is
  /// cut.
  explicit SseParser(std::size_t mostBytes) : mostBytes_(mostBytes) {}
  SseParser(const SseParser&) = delete;
  SseParser& operator=(const SseParser&) = delete;

  /// Takes bytes off `in`, up to the end of one event. An event ends as soon as it can: a CR is not held back for an
  /// LF that may follow it.
  Status feed(std::string_view& in);
  /// Called when the body has ended. Returns true if the rest is an event but for the empty line at its end, which is
  /// event() now: the standard has clients discard it, but many read it.
  bool finish();
  /// Returns the last event; valid after kEvent, and after a finish() that returned true.
  const SseEvent& event() const { return event_; }
  /// Returns the bytes taken that belong to no event yet.
  std::string_view rest() const { return complete_ ? std::string_view() : std::string_view(buffer_); }

 private:
  bool take(std::string_view& in, std::size_t count);
  void skipLineFeed(std::string_view& in);
  bool endsEvent() const;
  void beginEvent();
  void readFields();

  const std::size_t mostBytes_;
  std::string buffer_;  // the event under way
  std::string data_;    // joined, if there are several lines
  SseEvent event_;
  std::size_t counted_ = 0;    // bytes of buffer_ counted against the bound
  std::size_t lineBegin_ = 0;  // offset in buffer_
  bool afterCr_ = false;       // an LF that comes next belongs to the same line end
  bool complete_ = false;
  bool first_ = true;  // at the start of the body, where a byte order mark is allowed
  bool tooLong_ = false;
};

/// Appends the event with the fields that are set; `raw` is ignored. Every line break in `data` starts a new data
/// line. Fails if another field has a line break, `id` a NUL, or `retry` a character that is no digit.
base::Status writeSseEvent(const SseEvent& event, std::string& out);

/// Returns the event `raw` with other data: its other lines stay as they are, byte for byte. A last line without an end
/// gets one.
std::string sseEventWithData(std::string_view raw, std::string_view data);

}  // namespace sluice::content

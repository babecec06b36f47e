// Parses any bytes as server-sent events, in any pieces: nothing is lost or added, the pieces do not matter, and an
// event that is written again parses to the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/sse.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::content::SseEvent;
using sluice::content::SseParser;
using sluice::test::FuzzInput;
using sluice::test::require;

constexpr std::size_t kMost = 512;

struct Fields {
  std::string event, data, id, retry;
  bool hasData = false;
  bool operator==(const Fields&) const = default;
};

Fields copied(const SseEvent& event) {
  const auto text = [](const std::optional<std::string_view>& field) { return std::string(field.value_or("")); };
  return {text(event.event), text(event.data), text(event.id), text(event.retry), event.data.has_value()};
}

Fields readAgain(std::string_view text) {
  SseParser parser(text.size());
  require(parser.feed(text) == SseParser::Status::kEvent && text.empty(), "one event is written");
  return copied(parser.event());
}

struct SseCourse {
  std::vector<Fields> events;
  std::string bytes;
  bool tooLong = false;
};

void keep(const SseEvent& event, SseCourse& course) {
  course.events.push_back(copied(event));
  course.bytes += event.raw;
  std::string written;
  require(writeSseEvent(event, written).ok(), "what was read can be written");
  require(readAgain(written) == course.events.back(), "what was written is read alike");
}

/// Feeds one piece; returns false once an event was too long.
bool readPiece(SseParser& parser, std::string_view piece, SseCourse& course) {
  while (!piece.empty()) {
    const auto status = parser.feed(piece);
    if (status == SseParser::Status::kTooLong) {
      course.tooLong = true;
      course.bytes += std::string(parser.rest()) + std::string(piece);
      return false;
    }
    if (status == SseParser::Status::kMore) continue;
    keep(parser.event(), course);
  }
  return true;
}

/// Reads the remaining bytes of a body that has ended.
void readEnd(SseParser& parser, SseCourse& course) {
  if (parser.finish()) keep(parser.event(), course);
  course.bytes += parser.rest();
}

}  // namespace

int sluice::test::fuzzSse(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  SseParser parser(kMost);
  SseCourse course;
  std::string body;
  bool open = true;
  while (!input.empty()) {
    const std::string_view piece = input.piece(1000);
    body += piece;
    if (open) {
      open = readPiece(parser, piece, course);
    } else {
      course.bytes += piece;
    }
  }
  if (open) readEnd(parser, course);
  require(course.bytes == body, "not a byte is lost or added");

  SseParser again(kMost);
  SseCourse whole;
  if (readPiece(again, body, whole)) readEnd(again, whole);
  require(whole.events == course.events && whole.tooLong == course.tooLong, "pieces do not matter");
  return 0;
}

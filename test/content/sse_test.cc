#include "proxy/content/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::content {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Returns "event|data|id|retry", with - for an absent field.
std::string shown(const SseEvent& event) {
  const auto text = [](const std::optional<std::string_view>& field) { return std::string(field.value_or("-")); };
  return text(event.event) + "|" + text(event.data) + "|" + text(event.id) + "|" + text(event.retry);
}

struct ParsedEvents {
  std::vector<std::string> events;
  std::vector<std::string> raws;
  std::string rest;
  bool tooLong = false;
};

ParsedEvents parse(std::string_view body, std::size_t most = 1000, const std::vector<std::size_t>& cuts = {}) {
  SseParser parser(most);
  ParsedEvents parsed;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= cuts.size() && !parsed.tooLong; ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : body.size();
    std::string_view in = body.substr(begin, end - begin);
    SseParser::Status status = SseParser::Status::kEvent;
    while (!in.empty() && status == SseParser::Status::kEvent) {
      status = parser.feed(in);
      if (status != SseParser::Status::kEvent) continue;
      parsed.events.push_back(shown(parser.event()));
      parsed.raws.emplace_back(parser.event().raw);
    }
    parsed.tooLong = status == SseParser::Status::kTooLong;
    parsed.rest = std::string(parser.rest()) + std::string(in);
    begin = end;
  }
  return parsed;
}

std::vector<std::string> eventsOf(std::string_view body) { return parse(body).events; }

std::string joined(const ParsedEvents& parsed) {
  std::string all;
  for (const std::string& raw : parsed.raws) all += raw;
  return all + parsed.rest;
}

TEST(SseParser, ReadsTheExamplesOfTheStandard) {
  EXPECT_THAT(eventsOf("data: YHOO\ndata: +2\ndata: 10\n\n"), ElementsAre("-|YHOO\n+2\n10|-|-"));
  EXPECT_THAT(eventsOf(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n"),
              ElementsAre("-|-|-|-", "-|first event|1|-", "-|second event||-"));
  EXPECT_THAT(eventsOf("data\n\ndata\ndata\n\ndata:"), ElementsAre("-||-|-", "-|\n|-|-"));
  EXPECT_THAT(eventsOf("data:test\n\ndata: test\n\n"), ElementsAre("-|test|-|-", "-|test|-|-"));
  EXPECT_THAT(eventsOf("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n"),
              ElementsAre("add|73857293|-|-", "remove|2153|-|-"));
}

TEST(SseParser, AcceptsCrLfAndBothAsOneLineEnd) {
  const auto expected = ElementsAre("a|1\n2|-|-", "b|3|-|-");
  EXPECT_THAT(eventsOf("event:a\ndata:1\ndata:2\n\nevent:b\ndata:3\n\n"), expected);
  EXPECT_THAT(eventsOf("event:a\rdata:1\rdata:2\r\revent:b\rdata:3\r\r"), expected);
  EXPECT_THAT(eventsOf("event:a\r\ndata:1\r\ndata:2\r\n\r\nevent:b\r\ndata:3\r\n\r\n"), expected);
  EXPECT_THAT(eventsOf("event:a\ndata:1\r\ndata:2\r\n\revent:b\r\ndata:3\n\r\n"), expected);
}

TEST(SseParser, SkipsOneByteOrderMarkAtTheBeginning) {
  EXPECT_THAT(eventsOf("\xEF\xBB\xBF"
                       "data: a\n\n\xEF\xBB\xBF"
                       "data: b\n\n"),
              ElementsAre("-|a|-|-", "-|-|-|-"));
  EXPECT_THAT(parse("\xEF\xBB\xBF\ndata: a\n\n").raws, ElementsAre("\xEF\xBB\xBF\n", "data: a\n\n"));
}

TEST(SseParser, KeepsIgnoredLinesOnlyInTheRawBytes) {
  const std::string body("id: a\0b\nunknown: x\nDATA: y\ndata : z\ndata: x\nretry: 1s\nretry\nretry: 15\n: c\n\n", 75);
  EXPECT_THAT(parse(body).events, ElementsAre("-|x|-|15"));
  EXPECT_THAT(parse(body).raws, ElementsAre(body));
}

TEST(SseParser, UsesTheLastLineOfAField) {
  EXPECT_THAT(eventsOf("event: a\nevent: b\nid: 1\nid:\nretry: 1\nretry: 2\ndata:\n\n"), ElementsAre("b|||2"));
}

TEST(SseParser, ReadsTheSameWhereverTheBodyIsCut) {
  const std::string body =
      "\xEF\xBB\xBF:c\r\n\r\nevent: a\r\ndata: 1\r\ndata: 2\r\n\r\n\r\rid: \xC3\xA9\n\ndata: 3\r\r\nretry: "
      "7\rdata\r\n\n"
      "data: incomplete\r\n";
  const ParsedEvents whole = parse(body);
  EXPECT_EQ(joined(whole), body);
  EXPECT_EQ(whole.rest, "data: incomplete\r\n");
  std::vector<std::size_t> everywhere;
  for (std::size_t cut = 1; cut < body.size(); ++cut) {
    const ParsedEvents parsed = parse(body, 1000, {cut});
    EXPECT_EQ(parsed.events, whole.events) << cut;
    EXPECT_EQ(joined(parsed), body) << cut;
    everywhere.push_back(cut);
  }
  const ParsedEvents bytes = parse(body, 1000, everywhere);
  EXPECT_EQ(bytes.events, whole.events);
  EXPECT_EQ(joined(bytes), body);
}

TEST(SseParser, ReturnsAnEventAsSoonAsItIsComplete) {
  SseParser parser(100);
  for (const char* end : {"\n\n", "\r\r", "\r\n\r"}) {
    const std::string body = std::string("data: x") + end;
    std::string_view in = body;
    EXPECT_EQ(parser.feed(in), SseParser::Status::kEvent) << end;
    EXPECT_EQ(parser.rest(), "");
  }
}

TEST(SseParser, TakesTheRestOfTheBodyForAnEventAtItsEnd) {
  const auto finished = [](std::string_view body) {
    SseParser parser(100);
    while (!body.empty()) parser.feed(body);
    const bool isEvent = parser.finish();
    EXPECT_EQ(parser.rest(), "");
    EXPECT_FALSE(parser.finish()) << "once";
    return isEvent ? shown(parser.event()) + "|" + std::string(parser.event().raw) : "none";
  };
  EXPECT_EQ(finished("data: 1\n\nid: 7\ndata: 2"), "-|2|7|-|id: 7\ndata: 2");
  EXPECT_EQ(finished("\xEF\xBB\xBF"
                     "data: 1\r\n"),
            "-|1|-|-|\xEF\xBB\xBF"
            "data: 1\r\n");
  EXPECT_EQ(finished("data: 1\n\n"), "none");
  EXPECT_EQ(finished(""), "none");
  SseParser tooLong(5);
  std::string_view body = "data: 1";
  EXPECT_EQ(tooLong.feed(body), SseParser::Status::kTooLong);
  EXPECT_FALSE(tooLong.finish());
}

TEST(SseParser, BoundsEventsWhereverTheyAreCut) {
  // Each event has eleven bytes, in which a CRLF is counted as one.
  for (const char* event : {"data: 123\n\n", "data: 123\r\n\r\n", "data: 123\r\r"}) {
    const std::string body = std::string(event) + event;
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
      EXPECT_FALSE(parse(body, 11, {cut}).tooLong);
      const ParsedEvents parsed = parse(body, 10, {cut});
      EXPECT_TRUE(parsed.tooLong);
      EXPECT_THAT(parsed.events, IsEmpty());
    }
  }
}

TEST(SseParser, ReturnsItsBytesOfAnEventThatIsTooLong) {
  const std::string body = "data: 1\n\ndata: 123456789";
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    SseParser parser(10);
    std::string passed;
    std::string_view in = std::string_view(body).substr(0, cut);
    std::string left;
    SseParser::Status status = SseParser::Status::kMore;
    for (std::string_view piece : {in, std::string_view(body).substr(cut)}) {
      while (!piece.empty() && status != SseParser::Status::kTooLong) {
        status = parser.feed(piece);
        if (status == SseParser::Status::kEvent) passed += parser.event().raw;
      }
      left += piece;
    }
    EXPECT_EQ(status, SseParser::Status::kTooLong);
    EXPECT_EQ(passed + std::string(parser.rest()) + left, body) << cut;
    std::string_view more = "\n\n";
    EXPECT_EQ(parser.feed(more), SseParser::Status::kTooLong) << "stays so";
  }
}

TEST(SseWriter, WritesEventsThatTheParserReadsBack) {
  SseEvent event;
  event.event = "delta";
  event.data = "one\n\n three\n";
  event.id = "7";
  event.retry = "1500";
  std::string text;
  ASSERT_TRUE(writeSseEvent(event, text));
  EXPECT_EQ(text, "event: delta\nid: 7\nretry: 1500\ndata: one\ndata: \ndata:  three\ndata: \n\n");
  EXPECT_THAT(eventsOf(text), ElementsAre(shown(event)));
  text.clear();
  ASSERT_TRUE(writeSseEvent({}, text));
  EXPECT_EQ(text, "\n");
}

TEST(SseWriter, StartsADataLineAtEveryLineBreak) {
  SseEvent event;
  event.data = "a\rb\r\nc\n\rd";
  std::string text;
  ASSERT_TRUE(writeSseEvent(event, text));
  EXPECT_THAT(eventsOf(text), ElementsAre("-|a\nb\nc\n\nd|-|-"));
}

TEST(SseWriter, RefusesFieldsThatWouldBeReadAsOthers) {
  const auto refused = [](auto change) {
    SseEvent event;
    event.data = "x";
    change(event);
    std::string text = "before";
    const bool failed = !writeSseEvent(event, text).ok();
    EXPECT_EQ(text, failed ? "before" : text);
    return failed;
  };
  EXPECT_TRUE(refused([](SseEvent& e) { e.event = "a\ndata: b"; }));
  EXPECT_TRUE(refused([](SseEvent& e) { e.id = "a\rb"; }));
  EXPECT_TRUE(refused([](SseEvent& e) { e.id = std::string_view("a\0b", 3); }));
  EXPECT_TRUE(refused([](SseEvent& e) { e.retry = "1s"; }));
  EXPECT_TRUE(refused([](SseEvent& e) { e.retry = ""; }));
  EXPECT_FALSE(refused([](SseEvent& e) { e.retry = "10"; }));
}

TEST(SseWriter, ChangesTheDataOfAnEventAndNothingElse) {
  EXPECT_EQ(sseEventWithData(": c\r\nevent:a\r\ndata: 1\r\nx: y\r\ndata: 2\r\nid:\r\n\r\n", "new\nlines"),
            ": c\r\nevent:a\r\ndata: new\r\ndata: lines\r\nx: y\r\nid:\r\n\r\n");
  EXPECT_EQ(sseEventWithData("\xEF\xBB\xBF"
                             "data\r\r",
                             ""),
            "\xEF\xBB\xBF"
            "data: \r\r");
  EXPECT_EQ(sseEventWithData("event: a\n\n", "b"), "event: a\ndata: b\n\n");
  EXPECT_EQ(sseEventWithData("\ndata: a\n\n", "b"), "\ndata: b\n\n") << "the LF of a CRLF that was cut";
  EXPECT_EQ(sseEventWithData("id: 1\r\ndata: a", "b\nc"), "id: 1\r\ndata: b\ndata: c\n") << "the rest of a body";
  EXPECT_EQ(sseEventWithData("event: a", "b"), "event: a\ndata: b\n");
}

}  // namespace
}  // namespace sluice::content

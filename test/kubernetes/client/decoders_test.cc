// Lists and watches are taken apart as they arrive, wherever the network cuts them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/list_decoder.h"
#include "proxy/kubernetes/client/watch_decoder.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The parts into which a list was split.
struct DecodedList {
  std::vector<std::string> items;
  std::string rest;
  std::string error;
  friend bool operator==(const DecodedList&, const DecodedList&) = default;
};

/// Takes the items out of a piece of a list. Returns the error if it cannot be read; empty otherwise.
std::string takeItems(ListDecoder& decoder, std::string_view piece, std::vector<std::string>& items) {
  for (;;) {
    const base::Result<std::optional<content::Value>> item = decoder.next(piece);
    if (!item.ok()) return item.error().detail;
    if (!item->has_value()) break;
    items.push_back(content::writeJson(**item));
  }
  EXPECT_EQ(piece, "");
  return "";
}

DecodedList decodeList(const std::vector<std::string>& pieces) {
  DecodedList decoded;
  ListDecoder decoder;
  for (const std::string& piece : pieces) {
    decoded.error = takeItems(decoder, piece, decoded.items);
    if (!decoded.error.empty()) return decoded;
  }
  const base::Result<content::Value> rest = decoder.rest();
  decoded.rest = rest.ok() ? content::writeJson(*rest) : "";
  decoded.error = rest.ok() ? "" : rest.error().detail;
  return decoded;
}

constexpr const char* kTrickyList =
    R"({"kind":"XList","metadata":{"resourceVersion":"7","items":["a",{"b":1}]},)"
    R"("items":[{"a":"}]{[\",\\"},{"items":[{"c":[]},[2,3]],"d":{"e":"\\\""}} , {} ],"after":{"f":[1,{"g":2}]}})";

TEST(ListDecoders, ShowEachItemAndReturnAllElse) {
  const DecodedList decoded = decodeList({kTrickyList});
  EXPECT_EQ(decoded.error, "");
  EXPECT_THAT(decoded.items,
              ElementsAre(R"({"a":"}]{[\",\\"})", R"({"items":[{"c":[]},[2,3]],"d":{"e":"\\\""}})", "{}"));
  EXPECT_EQ(decoded.rest, R"({"kind":"XList","metadata":{"resourceVersion":"7","items":["a",{"b":1}]},"items":[],)"
                          R"("after":{"f":[1,{"g":2}]}})");
}

TEST(ListDecoders, ReadTheSameWhereverTheTextIsCut) {
  const std::string text = kTrickyList;
  const DecodedList whole = decodeList({text});
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(decodeList({text.substr(0, cut), text.substr(cut)}), whole) << cut;
  }
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  EXPECT_EQ(decodeList(bytes), whole);
}

TEST(ListDecoders, TakeNoListForWholeThatIsNot) {
  const std::string text = kTrickyList;
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(decodeList({text.substr(0, size)}).error, "") << size;
  }
}

TEST(ListDecoders, ShowItemsBeforeTheListHasEnded) {
  ListDecoder decoder;
  std::string_view begun = R"({"items":[{"a":1},{"b")";
  EXPECT_TRUE(decoder.next(begun)->has_value());
  EXPECT_EQ(begun, R"(,{"b")");
  EXPECT_FALSE(decoder.next(begun)->has_value());
}

TEST(ListDecoders, ReturnAnythingThatIsNoList) {
  const std::string status = R"({"kind":"Status","message":"no \"items\": [","code":403})";
  EXPECT_EQ(decodeList({status}).rest, status);
  EXPECT_EQ(decodeList({R"({"items":null,"metadata":{}})"}).rest, R"({"items":null,"metadata":{}})");
  EXPECT_EQ(decodeList({R"({"items":[],"metadata":{}})"}).rest, R"({"items":[],"metadata":{}})");
  EXPECT_EQ(decodeList({R"({"items":{"a":[{}]}})"}).rest, R"({"items":{"a":[{}]}})");
  EXPECT_EQ(decodeList({R"({"kind":"items","list":[{"a":1}]})"}).rest, R"({"kind":"items","list":[{"a":1}]})");
  EXPECT_EQ(decodeList({R"([{"items":[{"a":1}]}])"}).rest, R"([{"items":[{"a":1}]}])");
  EXPECT_THAT(decodeList({status}).items, IsEmpty());
}

TEST(ListDecoders, RefuseItemsThatAreNoObjects) {
  EXPECT_THAT(decodeList({R"({"items":[[1]]})"}).error, HasSubstr("no object"));
  EXPECT_NE(decodeList({R"({"items":[1,2]})"}).error, "");
  EXPECT_NE(decodeList({R"({"items":["a","b"]})"}).error, "");
  EXPECT_NE(decodeList({R"({"items":[{"a":1}{"b":2}]})"}).error, "");
  EXPECT_NE(decodeList({R"({"items":[{"a":}]})"}).error, "");
  EXPECT_NE(decodeList({R"({"items":[{"a":1}],"items":[{"b":1}]})"}).error, "");
  EXPECT_NE(decodeList({"]]]]}}}}"}).error, "");
  EXPECT_NE(decodeList({""}).error, "");
}

TEST(ListDecoders, BoundEachItemAndTheRest) {
  const std::string room(ListDecoder::kMostBytes - 8, 'x');
  EXPECT_EQ(decodeList({R"({"items":[{"a":")" + room + R"("}]})"}).error, "");
  EXPECT_THAT(decodeList({R"({"items":[{"a":"x)" + room + R"("}]})"}).error, HasSubstr("too large"));
  EXPECT_EQ(decodeList({R"({"a":")" + room + R"("})"}).error, "");
  EXPECT_THAT(decodeList({R"({"a":"x)" + room + R"("})"}).error, HasSubstr("too large"));
  // The bound applies to each item, not to their sum.
  const std::string item = R"({"a":")" + room + R"("},)";
  EXPECT_EQ(decodeList({R"({"items":[)", item, item, "{}]}"}).items.size(), 3U);
}

TEST(ListDecoders, LeaveOutWhatCannotBeReadIfTheyAreToldTo) {
  const std::string large(ListDecoder::kMostBytes, 'x');
  const std::string cut = large.substr(0, large.size() / 2);
  std::vector<std::string> items;
  ListDecoder decoder(/*leavesOut=*/true);
  for (const std::string& piece : {std::string(R"({"items":[{"n":1},{"a":")"), cut, cut, cut, cut,
                                   std::string(R"("},{"n":2},{"n":2,"n":3},{"a":")") + large + R"("},)",
                                   std::string(R"({"n":4}],"metadata":{"continue":"more"}})")}) {
    EXPECT_EQ(takeItems(decoder, piece, items), "");
  }
  EXPECT_THAT(items, ElementsAre(R"({"n":1})", R"({"n":2})", R"({"n":4})"));
  const base::Result<content::Value> rest = decoder.rest();
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(content::writeJson(*rest), R"({"items":[],"metadata":{"continue":"more"}})");
  ListDecoder strict(/*leavesOut=*/true);
  EXPECT_NE(takeItems(strict, R"({"items":[1]})", items), "");
  ListDecoder bounded(/*leavesOut=*/true);
  EXPECT_NE(takeItems(bounded, R"({"a":")" + large, items), "");
}

std::vector<std::string> decodeWatch(const std::vector<std::string>& pieces) {
  constexpr const char* kNames[] = {"added", "modified", "deleted", "bookmark", "error"};
  std::vector<std::string> events;
  WatchDecoder decoder;
  for (const std::string& piece : pieces) {
    for (std::string_view bytes = piece;;) {
      const base::Result<std::optional<WatchEvent>> event = decoder.next(bytes);
      if (!event.ok()) {
        events.push_back(event.error().detail);
        return events;
      }
      if (!event->has_value()) break;
      events.push_back(std::string(kNames[static_cast<int>((*event)->type)]) + " " +
                       content::writeJson((*event)->object));
    }
  }
  return events;
}

constexpr const char* kEvents =
    "{\"type\":\"ADDED\",\"object\":{\"a\":\"line\\n\"}}\n{\"object\":{\"b\":{}},\"type\":\"MODIFIED\"}\r\n\n\r\n"
    "{\"type\":\"DELETED\",\"object\":{}}\n{\"type\":\"BOOKMARK\",\"object\":{\"c\":[1]}}\n"
    "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n{\"type\":\"ADDED\",\"object\":{\"never";

TEST(WatchDecoders, ShowEachWholeEventWhereverTheTextIsCut) {
  const std::string text = kEvents;
  const std::vector<std::string> whole = decodeWatch({text});
  EXPECT_THAT(whole, ElementsAre(R"(added {"a":"line\n"})", R"(modified {"b":{}})", "deleted {}",
                                 R"(bookmark {"c":[1]})", R"(error {"code":410})"));
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(decodeWatch({text.substr(0, cut), text.substr(cut)}), whole) << cut;
  }
}

TEST(WatchDecoders, ShowNothingThatTheirUserDoesNotAskFor) {
  WatchDecoder decoder;
  std::string_view bytes = "{\"type\":\"DELETED\",\"object\":{}}\n<html>\n";
  EXPECT_TRUE(decoder.next(bytes)->has_value());
  EXPECT_EQ(bytes, "<html>\n");
}

TEST(WatchDecoders, RefuseWhatIsNoEvent) {
  EXPECT_THAT(decodeWatch({"{\"type\":\"RENAMED\",\"object\":{}}\n"}), ElementsAre(HasSubstr("unknown type")));
  EXPECT_THAT(decodeWatch({"{\"object\":{}}\n"}), ElementsAre(HasSubstr("unknown type")));
  EXPECT_THAT(decodeWatch({"{\"type\":7,\"object\":{}}\n"}), ElementsAre(HasSubstr("unknown type")));
  EXPECT_THAT(decodeWatch({"{\"type\":\"ADDED\"}\n"}), ElementsAre(HasSubstr("without an object")));
  EXPECT_THAT(decodeWatch({"{\"type\":\"ADDED\",\"object\":[]}\n"}), ElementsAre(HasSubstr("without an object")));
  EXPECT_THAT(decodeWatch({"[]\n"}), ElementsAre(HasSubstr("unknown type")));
  EXPECT_THAT(decodeWatch({"<html>\n"}), ElementsAre(HasSubstr("no JSON")));
}

TEST(WatchDecoders, BoundEachEvent) {
  const std::string head = R"({"type":"ADDED","object":{"a":")";
  const std::string room(WatchDecoder::kMostBytes - head.size() - 3, 'x');
  EXPECT_EQ(decodeWatch({head + room + "\"}}\n", head + room + "\"}}\n"}).size(), 2U);
  EXPECT_THAT(decodeWatch({head + room + "x\"}}\n"}), ElementsAre(HasSubstr("too large")));
  // Without an end of line, too.
  EXPECT_THAT(decodeWatch({head, room, "xxxx"}), ElementsAre(HasSubstr("too large")));
}

}  // namespace
}  // namespace sluice::kubernetes

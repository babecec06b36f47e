#include "proxy/kubernetes/client/list_decoder.h"

#include <utility>

#include "proxy/content/json.h"

namespace sluice::kubernetes {
namespace {

base::Error badList(std::string detail) {
  return base::Error::upstream(base::ErrorType::kHttpProtocolError, "the API server's list " + std::move(detail));
}

constexpr const char* kTooLarge = "has an object that is too large";
/// In the text without the items, so that the parser sees what stands between them.
constexpr std::string_view kPlaceOfItem = "0";

bool mayStandBetweenItems(char c) { return std::string_view(" \t\r\n,{[]").find(c) != std::string_view::npos; }

}  // namespace

// It tells only where items begin and end; whether they are JSON is the parser's question.
base::Status ListDecoder::feed(std::string_view bytes, const Take& take) {
  std::size_t from = 0;  // what is before it has been copied
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (takeInString(c)) continue;
    if (depth_ == kItemDepth - 1 && inItems_ && !mayStandBetweenItems(c))
      return badList("has an item that is no object");
    if (c == '"') {
      inString_ = true;
      if (depth_ == 1) name_.clear();
    } else if (c == '{' || c == '[') {
      ++depth_;
      if (depth_ == kItemDepth - 1) inItems_ = c == '[' && name_ == "items";
      if (depth_ == kItemDepth && inItems_) {
        rest_.append(bytes.substr(from, at - from)).append(kPlaceOfItem);
        from = at;
      }
    } else if (c == '}' || c == ']') {
      if (depth_ == kItemDepth && inItems_) {
        item_.append(bytes.substr(from, at + 1 - from));
        from = at + 1;
        if (base::Status ended = endItem(take); !ended.ok()) return ended;
      }
      --depth_;
    }
  }
  std::string& text = inItems_ && depth_ >= kItemDepth ? item_ : rest_;
  text.append(bytes.substr(from));
  return text.size() <= kMostBytes ? base::Status(base::Done{}) : outgrown(text);
}

base::Status ListDecoder::outgrown(std::string& text) {
  if (!leavesOut_ || &text != &item_) return badList(kTooLarge);
  tooLarge_ = true;
  item_.clear();
  return base::Done{};
}

/// Returns true if the byte is one of a string, or its end.
bool ListDecoder::takeInString(char c) {
  if (!inString_) return false;
  if (escaped_ || c == '\\') {
    escaped_ = !escaped_;
  } else if (c == '"') {
    inString_ = false;
  }
  if (depth_ == 1 && inString_) name_ += c;
  return true;
}

base::Status ListDecoder::endItem(const Take& take) {
  if (std::exchange(tooLarge_, false) || item_.size() > kMostBytes) {
    item_.clear();
    return leavesOut_ ? base::Status(base::Done{}) : badList(kTooLarge);
  }
  base::Result<content::Value> item = content::parseJson(item_, {.bytes = kMostBytes});
  item_.clear();
  if (!item.ok() && leavesOut_) return base::Done{};
  if (!item.ok()) return badList("has an item that is no JSON: " + item.error().detail);
  if (!item->isMap()) return badList("has an item that is no object");
  take(std::move(item).value());
  return base::Done{};
}

base::Result<content::Value> ListDecoder::rest() {
  base::Result<content::Value> value = content::parseJson(rest_, {.bytes = kMostBytes});
  if (!value.ok()) return badList("is no JSON: " + value.error().detail);
  for (content::Member& member : value->members) {
    if (member.key == "items") member.value.items.clear();
  }
  return value;
}

}  // namespace sluice::kubernetes

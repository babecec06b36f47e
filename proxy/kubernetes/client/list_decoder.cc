#include "proxy/kubernetes/client/list_decoder.h"

#include <utility>

#include "proxy/content/json.h"

namespace sluice::kubernetes {
namespace {

base::Error badList(std::string detail) {
  return base::Error::upstream(base::ErrorType::kHttpProtocolError, "the API server's list " + std::move(detail));
}

constexpr const char* kTooLarge = "has an object that is too large";
/// The text without the items has this in their place, so that the parser checks the text between them.
constexpr std::string_view kPlaceOfItem = "0";

bool mayStandBetweenItems(char c) { return std::string_view(" \t\r\n,{[]").find(c) != std::string_view::npos; }

}  // namespace

// It only finds where items begin and end; the parser checks whether they are JSON.
base::Result<std::optional<content::Value>> ListDecoder::next(std::string_view& bytes) {
  std::size_t from = 0;  // the bytes before it have been copied
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
      const bool endsItem = depth_-- == kItemDepth && inItems_;
      if (!endsItem) continue;
      item_.append(bytes.substr(from, at + 1 - from));
      from = at + 1;
      auto item = endItem();
      if (item.ok() && !item->has_value()) continue;
      bytes.remove_prefix(from);
      return item;
    }
  }
  std::string& text = inItems_ && depth_ >= kItemDepth ? item_ : rest_;
  text.append(bytes.substr(from));
  bytes = {};
  if (text.size() > kMostBytes) {
    if (const base::Status kept = outgrown(text); !kept.ok()) return kept.error();
  }
  return std::optional<content::Value>();
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

/// Returns nullopt if the item is left out.
base::Result<std::optional<content::Value>> ListDecoder::endItem() {
  const std::string text = std::exchange(item_, {});
  if (std::exchange(tooLarge_, false) || text.size() > kMostBytes) {
    if (leavesOut_) return std::optional<content::Value>();
    return badList(kTooLarge);
  }
  base::Result<content::Value> item = content::parseJson(text, {.bytes = kMostBytes});
  if (!item.ok() && leavesOut_) return std::optional<content::Value>();
  if (!item.ok()) return badList("has an item that is no JSON: " + item.error().detail);
  if (!item->isMap()) return badList("has an item that is no object");
  return std::optional(std::move(item).value());
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

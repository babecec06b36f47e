#include "proxy/control/kubernetes/client/list_decoder.h"

#include <utility>

#include "proxy/content/json.h"

namespace sluice::control {
namespace {

base::Error badList(std::string detail) {
  return base::Error::upstream(base::ErrorType::kHttpProtocolError, "the API server's list " + std::move(detail));
}

}  // namespace

base::Status ListDecoder::feed(std::string_view bytes, const Take& take) {
  for (const char c : bytes) {
    if (base::Status taken = takeByte(c, take); !taken.ok()) return taken;
  }
  return base::Done{};
}

// It tells only where items begin and end; whether they are JSON is the parser's question.
base::Status ListDecoder::takeByte(char c, const Take& take) {
  const bool structural = !inString_;
  if (inString_) {
    if (depth_ == 1 && c != '"') name_ += c;
    inString_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
  } else if (c == '"') {
    inString_ = true;
    if (depth_ == 1) name_.clear();
  } else if (c == '{' || c == '[') {
    ++depth_;
    if (depth_ == 2) inItems_ = c == '[' && name_ == "items";
  }
  if (inItems_ && depth_ == kItemDepth - 1 && structural && c == ',') return base::Done{};  // between two items
  std::string& text = target();
  text += c;
  if (text.size() > kMostBytes || name_.size() > kMostBytes) return badList("has an object that is too large");
  if (structural && (c == '}' || c == ']')) {
    if (inItems_ && depth_ == kItemDepth) {
      --depth_;
      return endItem(take);
    }
    --depth_;
  }
  return base::Done{};
}

base::Status ListDecoder::endItem(const Take& take) {
  base::Result<content::Value> item = content::parseJson(item_, {.bytes = kMostBytes});
  item_.clear();
  if (!item.ok()) return badList("has an item that is no JSON: " + item.error().detail);
  take(std::move(item).value());
  return base::Done{};
}

base::Result<content::Value> ListDecoder::rest() {
  base::Result<content::Value> value = content::parseJson(rest_, {.bytes = kMostBytes});
  if (!value.ok()) return badList("is no JSON: " + value.error().detail);
  return value;
}

}  // namespace sluice::control

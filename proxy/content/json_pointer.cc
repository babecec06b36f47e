#include "proxy/content/json_pointer.h"

#include <algorithm>
#include <charconv>

namespace sluice::content {
namespace {

std::optional<std::string> unescape(std::string_view token) {
  std::string name;
  for (std::size_t at = 0; at < token.size(); ++at) {
    if (token[at] != '~') {
      name += token[at];
    } else if (++at < token.size() && (token[at] == '0' || token[at] == '1')) {
      name += token[at] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return name;
}

const Value* findItem(const Value& list, const std::string& token) {
  const std::optional<std::size_t> index = listIndex(token);
  return index && *index < list.items.size() ? &list.items[*index] : nullptr;
}

}  // namespace

base::Result<JsonPointer> JsonPointer::parse(std::string_view text) {
  JsonPointer pointer;
  if (!text.empty() && text.front() != '/') return base::Error::config("is no JSON Pointer: it must begin with '/'");
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('/'), text.size());
    std::optional<std::string> name = unescape(text.substr(0, end));
    if (!name) return base::Error::config("is no JSON Pointer: after '~' must be 0 or 1");
    pointer.tokens_.push_back(std::move(*name));
    text.remove_prefix(end);
  }
  return pointer;
}

std::string JsonPointer::text() const {
  std::string text;
  for (const std::string& token : tokens_) text += "/" + pointerToken(token);
  return text;
}

const Value* JsonPointer::find(const Value& root) const {
  const Value* at = &root;
  for (const std::string& token : tokens_) {
    at = at->isList() ? findItem(*at, token) : at->find(token);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::optional<std::string> pointerTo(const Value& whole, const Value& part) {
  if (&whole == &part) return "";
  for (std::size_t i = 0; i < whole.items.size(); ++i) {
    if (auto below = pointerTo(whole.items[i], part)) return "/" + std::to_string(i) + *below;
  }
  for (const Member& member : whole.members) {
    if (auto below = pointerTo(member.value, part)) return "/" + pointerToken(member.key) + *below;
  }
  return std::nullopt;
}

std::optional<std::size_t> listIndex(std::string_view token) {
  std::size_t index = 0;
  const char* end = token.data() + token.size();
  const auto read = std::from_chars(token.data(), end, index);
  if (read.ec != std::errc() || read.ptr != end || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  return index;
}

std::string pointerToken(std::string_view name) {
  std::string token;
  for (const char c : name) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

}  // namespace sluice::content

#include "proxy/kubernetes/client/api_forms.h"

#include <charconv>
#include <chrono>

#include "proxy/base/json_text.h"
#include "proxy/base/timestamp.h"
#include "proxy/base/utf8.h"
#include "proxy/pki/digest.h"

namespace sluice::kubernetes {
namespace {

constexpr std::size_t kSecondsSize = std::string_view("2026-11-23T16:46:08").size();

}  // namespace

std::string apiTime(base::WallTime time) {
  base::Timestamp stamp;
  return std::string(stamp.text(time).substr(0, kSecondsSize)) + "Z";
}

std::string apiMicroTime(base::WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const std::string digits =
      std::to_string(std::chrono::floor<std::chrono::microseconds>(time - second).count() + 1000000);
  base::Timestamp stamp;
  return std::string(stamp.text(time).substr(0, kSecondsSize)) + "." + digits.substr(1) + "Z";
}

std::string boundedText(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t border = 0;  // where the text is cut if it turns out to be too long
  while (!text.empty()) {
    const base::Utf8Character character = base::decodeUtf8(text);
    const std::size_t length = character.length == 0 ? 1 : character.length;
    const std::string_view piece = character.length == 0 ? base::kReplacementCharacter : text.substr(0, length);
    if (out.size() + piece.size() > most) {
      out.resize(border);
      return out.append(base::kCutMarker);
    }
    out += piece;
    if (out.size() + base::kCutMarker.size() <= most) border = out.size();
    text.remove_prefix(length);
  }
  return out;
}

const content::Value* valueIn(const content::Value* map, std::string_view key) {
  const content::Value* found = map == nullptr ? nullptr : map->find(key);
  return found == nullptr || found->isNull() ? nullptr : found;
}

std::string_view textIn(const content::Value* map, std::string_view key) {
  const content::Value* found = valueIn(map, key);
  return found != nullptr && found->isString() ? std::string_view(found->text) : std::string_view();
}

std::optional<std::int64_t> numberIn(const content::Value* map, std::string_view key) {
  const content::Value* found = valueIn(map, key);
  if (found == nullptr || found->kind != content::Value::Kind::kNumber) return std::nullopt;
  std::int64_t number = 0;
  const char* end = found->text.data() + found->text.size();
  const auto read = std::from_chars(found->text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

std::string boundedName(std::string_view name, std::size_t most) {
  constexpr std::size_t kDigestDigits = 16;
  if (name.size() <= most) return std::string(name);
  std::string_view head = name.substr(0, most - kDigestDigits - 1);
  while (!head.empty() && (head.back() == '.' || head.back() == '-' || head.back() == '_')) head.remove_suffix(1);
  return std::string(head) + "-" + pki::toHex(pki::sha256(name)).substr(0, kDigestDigits);
}

const content::Value* itemsOf(const content::Value& list) {
  const content::Value* items = list.find("items");
  return items != nullptr && (items->isList() || items->isNull()) ? items : nullptr;
}

}  // namespace sluice::kubernetes

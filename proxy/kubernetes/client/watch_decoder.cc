#include "proxy/kubernetes/client/watch_decoder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/content/json.h"

namespace sluice::kubernetes {
namespace {

base::Error badWatch(std::string detail) {
  return base::Error::upstream(base::ErrorType::kHttpProtocolError, "the API server's watch " + std::move(detail));
}

std::optional<WatchEventType> eventTypeOf(std::string_view name) {
  if (name == "ADDED") return WatchEventType::kAdded;
  if (name == "MODIFIED") return WatchEventType::kModified;
  if (name == "DELETED") return WatchEventType::kDeleted;
  if (name == "BOOKMARK") return WatchEventType::kBookmark;
  if (name == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

base::Result<WatchEvent> readEvent(std::string_view line) {
  base::Result<content::Value> parsed = content::parseJson(line, {.bytes = WatchDecoder::kMostBytes});
  if (!parsed.ok()) return badWatch("has an event that is no JSON: " + parsed.error().detail);
  const content::Value* type = parsed->find("type");
  const std::optional<WatchEventType> known =
      type != nullptr && type->isString() ? eventTypeOf(type->text) : std::nullopt;
  if (!known) return badWatch("has an event of an unknown type");
  for (content::Member& member : parsed->members) {
    if (member.key == "object" && member.value.isMap()) return WatchEvent{*known, std::move(member.value)};
  }
  return badWatch("has an event without an object");
}

}  // namespace

base::Result<std::optional<WatchEvent>> WatchDecoder::next(std::string_view& bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > kMostBytes) return badWatch("has an event that is too large");
    bytes.remove_prefix(std::min(end, bytes.size() - 1) + 1);
    if (end == std::string_view::npos) break;
    const std::string line = std::exchange(line_, {});
    if (line.empty() || line == "\r") continue;
    base::Result<WatchEvent> event = readEvent(line);
    if (!event.ok()) return event.error();
    return std::optional(std::move(event).value());
  }
  return std::optional<WatchEvent>();
}

}  // namespace sluice::kubernetes

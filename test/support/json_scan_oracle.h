// Compares a JsonScan and locateJson() with the parser: all accept the same texts, and the values that they find are
// those in the tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/json_locate.h"
#include "proxy/content/json_scan.h"

namespace sluice::test {

inline constexpr std::size_t kScannedText = 8;

/// Returns paths of all kinds, into texts that name their members "a", "b" and "0".
inline std::vector<content::JsonPath> scannedPaths() {
  using Step = content::JsonStep;
  const Step a{"a", {}};
  return {{},
          {a},
          {a, Step{"b", {}}},
          {Step{{}, 0}},
          {Step{"0", 0}},
          {Step{{}, -1}},
          {a, Step{{}, 1}, Step{"b", {}}},
          {Step{{}, -2}, a},
          {Step{{}, -1}, Step{{}, -2}},
          {a, Step{"", {}}, Step{{}, 0}}};
}

inline const content::Value* walk(const content::Value& root, std::span<const content::JsonStep> path) {
  const content::Value* value = &root;
  for (const content::JsonStep& step : path) {
    if (value->isMap()) {
      value = step.name ? value->find(*step.name) : nullptr;
    } else if (value->isList() && step.index) {
      const auto size = static_cast<std::int64_t>(value->items.size());
      const std::int64_t index = *step.index < 0 ? size + *step.index : *step.index;
      value = index >= 0 && index < size ? &value->items[static_cast<std::size_t>(index)] : nullptr;
    } else {
      value = nullptr;
    }
    if (value == nullptr) return nullptr;
  }
  return value;
}

/// Scans `text` in pieces of the sizes that `next` returns, and describes how the two differ; "" if they do not.
inline std::string differenceOf(std::string_view text, std::span<const content::JsonStep> path,
                                const std::function<std::size_t()>& next) {
  const auto parsed = content::parseJson(text, {.bytes = text.size()});
  content::JsonScan scan(path, kScannedText);
  bool good = true;
  for (std::string_view rest = text; good && !rest.empty();) {
    const std::string piece(rest.substr(0, next()));  // a copy, so that a sanitizer sees reads beyond it
    good = scan.feed(piece);
    rest.remove_prefix(piece.size());
  }
  good = good && scan.end();
  if (good != parsed.ok()) return good ? "only the scan takes it" : "only the parser takes it";
  if (!good) return scan.end() || scan.feed(" ") ? "what failed goes on" : "";
  const content::Value* value = walk(*parsed, path);
  const content::JsonScan::Found* found = scan.found();
  if ((value != nullptr) != (found != nullptr)) return found != nullptr ? "the scan finds more" : "the scan finds less";
  if (value == nullptr) return "";
  if (value->kind != found->kind) return "the kind";
  if (value->kind == content::Value::Kind::kBool)
    return found->text == value->text && !found->isCut ? "" : "the boolean";
  const bool hasText = value->isString() || value->kind == content::Value::Kind::kNumber;
  if (found->text != (hasText ? std::string_view(value->text).substr(0, kScannedText) : std::string_view()))
    return "the text";
  return found->isCut == (hasText && value->text.size() > kScannedText) ? "" : "whether it is cut";
}

/// Locates the values at all of `paths` at once, and describes how they differ from the parser's; "" if they do not.
inline std::string differenceOfLocated(std::string_view text, std::span<const content::JsonPath> paths) {
  const std::string copy(text);  // so that a sanitizer sees reads beyond it
  const auto parsed = content::parseJson(copy, {.bytes = copy.size()});
  std::vector<std::string_view> found(paths.size());
  if (content::locateJson(copy, paths, found) != parsed.ok()) return "one of the two does not take it";
  for (std::size_t i = 0; parsed && i < paths.size(); ++i) {
    const auto fromEnd = [](const content::JsonStep& step) { return step.index && *step.index < 0; };
    if (std::any_of(paths[i].begin(), paths[i].end(), fromEnd)) continue;
    const content::Value* value = walk(*parsed, paths[i]);
    if (found[i].empty() != (value == nullptr)) return "whether there is a value";
    if (value != nullptr && content::writeJson(content::parseJson(found[i]).value()) != content::writeJson(*value)) {
      return "the value";
    }
  }
  return "";
}

}  // namespace sluice::test

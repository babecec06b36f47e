// The input is a JSON Pointer, a line feed and any text: an edit is refused or does what it states, and accepts every
// JSON text that the parser accepts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/json_edit.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::base::Result;
using sluice::content::JsonEdit;
using sluice::content::JsonPointer;
using sluice::content::Value;
using sluice::test::require;

Result<std::string> edit(std::string_view document, const JsonPointer& pointer, std::optional<Value> value) {
  const std::vector<JsonEdit> edits = {{pointer, std::move(value)}};
  return sluice::content::editJson(document, edits);
}

/// Checks that every byte outside the replaced value is unchanged.
void checkBytes(std::string_view before, std::string_view after, std::string_view written, bool there) {
  const std::size_t at = after.find(written);
  require(at != std::string_view::npos, "the value stands in the text");
  if (there) {
    require(before.starts_with(after.substr(0, at)), "what is in front stays");
    require(before.ends_with(after.substr(at + written.size())), "what is behind stays");
    return;
  }
  const auto front = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first - before.begin();
  const auto behind =
      std::mismatch(before.rbegin(), before.rend(), after.rbegin(), after.rend()).first - before.rbegin();
  require(static_cast<std::size_t>(front + behind) >= before.size(), "what is added is in one place");
}

}  // namespace

int sluice::test::fuzzJsonEdit(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find('\n');
  if (cut == std::string_view::npos) return 0;
  const auto pointer = JsonPointer::parse(text.substr(0, cut));
  const std::string_view document = text.substr(cut + 1);
  if (!pointer || pointer->tokens().size() > 16) return 0;
  Value marker;
  marker.kind = Value::Kind::kString;
  marker.text = "the only marker of its kind";

  const auto parsed = sluice::content::parseJson(document);
  const auto removed = edit(document, *pointer, std::nullopt);
  const auto set = edit(document, *pointer, marker);
  require(!parsed || removed.ok() || pointer->tokens().empty(), "what can be parsed can be edited");
  if (!parsed) return 0;

  const bool there = pointer->find(*parsed) != nullptr;
  const std::string written = sluice::content::writeJson(marker);
  if (set && document.find(written) == std::string_view::npos) checkBytes(document, *set, written, there);
  if (removed && !there) require(*removed == document, "a missing value cannot be removed");
  if (removed && there) {
    const auto again = sluice::content::parseJson(*removed);
    require(again.ok(), "what is left is JSON");
  }
  if (!set) return 0;
  const auto again = sluice::content::parseJson(*set, {set->size(), 128});
  require(again.ok(), "what was set is JSON");
  const Value* found = pointer->find(*again);
  const bool byDash = pointer->text().find("/-") != std::string::npos;
  require(byDash || (found != nullptr && found->text == marker.text), "what was set is found");
  return 0;
}

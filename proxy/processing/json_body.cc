#include "proxy/processing/json_body.h"

#include <algorithm>
#include <cstdint>

#include "proxy/content/json.h"

namespace sluice::processing {

namespace {

/// Of the tree, whatever it is: each value and each member stands behind one of these bytes, or is the whole. Its
/// vectors may have room for twice as many, and each string a piece of memory of its own.
std::uint64_t mostBytes(const base::ByteQueue& text) {
  std::uint64_t values = 1;
  text.forEachRun([&values](std::string_view run) {
    values += static_cast<std::uint64_t>(
        std::count_if(run.begin(), run.end(), [](char c) { return c == ',' || c == '[' || c == '{'; }));
  });
  return 2 * values * sizeof(content::Member) + 2 * text.size();
}

}  // namespace

base::Result<JsonBody> JsonBody::parse(Body& body) {
  if (!body.claim(body.bytes().size() + mostBytes(body.bytes()))) {
    return base::Error(base::ErrorType::kProcessorCapacityReached, base::ErrorOrigin::kProcessor,
                       "there is no room to parse the body");
  }
  std::string text = body.bytes().text();
  auto value = content::parseJson(text, {.bytes = text.size()});
  if (!value) return std::move(value).error();
  return JsonBody(std::move(text), std::move(value).value());
}

base::Status JsonBody::apply(Body& body) const {
  if (edits_.empty()) return base::Done{};
  auto changed = content::editJson(text_, edits_);
  if (!changed) return std::move(changed).error();
  body.replacement().append(*changed);
  return base::Done{};
}

}  // namespace sluice::processing

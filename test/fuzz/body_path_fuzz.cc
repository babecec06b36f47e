// Any text -> a path, as a pointer and as a query, or why it is none; a path finds what stands in a document or
// nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "filters/body_path.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::content::Value;

/// Two levels of lists and maps, with members named "a", "0" and "".
Value document() {
  Value leaf;
  leaf.kind = Value::Kind::kString;
  Value list;
  list.kind = Value::Kind::kList;
  list.items = {leaf, leaf};
  Value map;
  map.kind = Value::Kind::kMap;
  for (const char* name : {"a", "0", ""}) map.members.push_back({name, {}, list});
  Value root;
  root.kind = Value::Kind::kList;
  root.items = {map, list};
  return root;
}

void use(const sluice::base::Result<sluice::filters::BodyPath>& path, const Value& root, bool whole) {
  using sluice::test::require;
  if (!path) return require(!path.error().detail.empty(), "what is refused has a reason");
  const Value* found = path->find(root);
  require(!whole || found == &root, "no step leads nowhere else");
  require(found == nullptr || found->text.empty(), "what is found is of the document");
}

}  // namespace

int sluice::test::fuzzBodyPath(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Value root = document();
  use(sluice::filters::BodyPath::fromPointer(text), root, text.empty());
  use(sluice::filters::BodyPath::fromJsonPath(text), root, text == "$");
  return 0;
}

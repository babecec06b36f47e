// Reads any text as a body path, as a pointer and as a query: it is either accepted or refused with a reason, and an
// accepted path finds either nothing or a value of the document.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "filters/body_path.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

/// The document has two levels of lists and maps, with members named "a", "0" and "".
constexpr std::string_view kDocument =
    R"([{"a":["leaf","leaf"],"0":["leaf","leaf"],"":["leaf","leaf"]},["leaf","leaf"]])";

void use(const sluice::base::Result<sluice::filters::BodyPath>& path, bool whole) {
  using sluice::test::require;
  if (!path) return require(!path.error().detail.empty(), "what is refused has a reason");
  sluice::content::JsonScan scan(path->steps(), 16);
  require(scan.feed(kDocument) && scan.end(), "the path does not matter to what is JSON");
  const auto* found = scan.found();
  require(!whole || (found != nullptr && found->kind == sluice::content::Value::Kind::kList),
          "no step leads to the whole");
  require(found == nullptr || found->text.empty() || found->text == "leaf", "what is found is of the document");
}

}  // namespace

int sluice::test::fuzzBodyPath(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  use(sluice::filters::BodyPath::fromPointer(text), text.empty());
  use(sluice::filters::BodyPath::fromJsonPath(text), text == "$");
  return 0;
}

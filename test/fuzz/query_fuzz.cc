// Edits any query: the result has one parameter of the name, the gateway's own, after all other parameters.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/processing/query_edit.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

int sluice::test::fuzzQuery(const std::uint8_t* data, std::size_t size) {
  using sluice::test::require;
  sluice::base::ChunkPool pool;
  sluice::base::Arena arena(pool);
  const std::string_view target(reinterpret_cast<const char*>(data), size);
  const std::string_view edited = sluice::processing::replaceParameter(arena, target, "k-1", "k-1=own");
  const std::string_view path = target.substr(0, target.find('?'));
  require(edited.substr(0, path.size() + 1) == std::string(path) + "?", "the path stays");
  require(edited.ends_with("?k-1=own") || edited.ends_with("&k-1=own"), "the parameter ends the query");
  std::string_view rest = edited.substr(path.size() + 1);
  rest.remove_suffix(7);
  require(edited.size() <= target.size() + 9, "nothing else is added");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("&;"), rest.size());
    require(!sluice::processing::namesParameter(rest.substr(0, end), "k-1"), "it stands there once");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  require(sluice::processing::replaceParameter(arena, edited, "k-1", "k-1=own") == edited,
          "doing it again changes nothing");
  return 0;
}

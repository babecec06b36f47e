// Loads any text as a configuration: there is never a crash, an endless loop or more memory than the limits allow, and
// a refused text has a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/load/load.h"
#include "test/fuzz/fuzzers.h"

int sluice::test::fuzzYaml(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const sluice::config::Configuration configuration = sluice::config::loadText(text);
  const bool refused = !configuration.readable || !configuration.model.rejected.empty();
  if (refused && !sluice::config::hasErrors(configuration.problems)) std::abort();
  for (const sluice::config::Problem& problem : configuration.problems) {
    if (sluice::config::render(problem).empty()) std::abort();
  }
  return 0;
}

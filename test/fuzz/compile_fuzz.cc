// Compiles any set of documents, which lines of "---" separate. The result is the same each time, in whichever order
// the documents come, and whatever was compiled before with the same caches.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/load/load.h"
#include "config/load/text_cache.h"
#include "filters/types/builtin_types.h"
#include "proxy/compile/compile.h"
#include "proxy/compile/processors/processor_support.h"
#include "test/compile/described_result.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::config::Configuration;
using sluice::config::Problem;
using sluice::config::Problems;
using sluice::test::require;
using Texts = std::vector<sluice::config::SourceText>;

/// Returns each document as a text of its own, so that it has the same name in whichever order it comes.
Texts textsOf(std::string_view input) {
  constexpr std::size_t kMostDocuments = 40;
  Texts texts(1, {"d0", {}});
  while (!input.empty() && texts.size() < kMostDocuments) {
    const std::size_t end = std::min(input.find('\n'), input.size() - 1) + 1;
    const std::string_view line = input.substr(0, end);
    if (line == "---\n") {
      texts.push_back({"d" + std::to_string(texts.size()), {}});
    } else {
      texts.back().text += line;
    }
    input.remove_prefix(end);
  }
  return texts;
}

/// Loads sets of documents, of which those that were in the last set are not parsed again.
class DocumentLoader {
 public:
  Configuration load(const Texts& texts, const sluice::config::Model* previous = nullptr) {
    return sluice::config::load(sluice::config::readTexts(texts, {}, sluice::base::Secret(), cache_), previous);
  }

 private:
  sluice::config::TextCache cache_;
};

/// Results that successive compilations share, as in a process.
struct SharedResults {
  sluice::config::CatalogCache catalogs;
  sluice::compile::CompileCache compiled;
};

sluice::base::Result<std::shared_ptr<const sluice::pki::TrustStore>> systemAuthorities() {
  static const auto kStore = [] {
    auto read = sluice::pki::TrustStore::system();
    return read ? std::make_shared<const sluice::pki::TrustStore>(std::move(read).value()) : nullptr;
  }();
  if (kStore == nullptr) return sluice::base::Error::config("the system has no authorities");
  return kStore;
}

/// Compiles and returns everything that is known then, problems included.
std::string compiled(const Configuration& configuration, SharedResults& shared) {
  if (!configuration.readable) return "not readable";
  static const sluice::processing::BuiltinTypes kTypes = sluice::filters::builtinTypes();
  static const sluice::compile::SystemTrust kTrust = systemAuthorities;
  Problems problems = configuration.problems;
  const auto catalog = shared.catalogs.read(configuration.model, sluice::compile::supportOf(kTypes), problems);
  const auto result = sluice::compile::compile(configuration.model, {*catalog, kTypes, kTrust}, shared.compiled);
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(render(problem) + "\n");
  std::sort(lines.begin(), lines.end());
  std::string text = sluice::compile::test::describedResult(result);
  for (const std::string& line : lines) text += line;
  return text + (result.usable ? "usable" : "not usable");
}

std::string compiledAlone(const Configuration& configuration) {
  SharedResults none;
  return compiled(configuration, none);
}

/// If two documents define one object, the first one is used, so their order matters.
bool dependsOnOrder(const Problems& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.message.find("is defined twice") != std::string::npos;
  });
}

}  // namespace

int sluice::test::fuzzCompile(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 32'768;
  Texts texts = textsOf({reinterpret_cast<const char*>(data), std::min(size, kMostBytes)});
  DocumentLoader loader;
  const Configuration whole = loader.load(texts);
  if (!whole.readable) {
    require(config::hasErrors(whole.problems), "a refused set has no problem");
    return 0;
  }
  SharedResults shared;
  const std::string expected = compiledAlone(whole);
  require(compiledAlone(whole) == expected, "the result differs from one time to the next");
  require(compiled(whole, shared) == expected && compiled(whole, shared) == expected, "a cache changes the result");
  Texts less = texts;
  less.erase(less.begin() + static_cast<std::ptrdiff_t>(size % less.size()));
  const Configuration smaller = loader.load(less);
  require(compiled(smaller, shared) == compiledAlone(smaller), "what was removed is remembered");
  require(compiled(loader.load(texts), shared) == expected, "what comes back is another one");

  std::reverse(texts.begin(), texts.end());
  const Configuration reversed = loader.load(texts);
  require(dependsOnOrder(whole.problems) || compiled(reversed, shared) == expected, "the order changes the result");

  // Objects that have become invalid, or were deleted, are looked up in the configuration that was served.
  const Configuration kept = loader.load(less, &whole.model);
  require(compiled(kept, shared) == compiledAlone(kept), "what was served before is remembered elsewhere");
  return 0;
}

#include "filters/library/library_engine.h"

#include <memory>
#include <utility>

#include "filters/library/library_folder.h"
#include "filters/library/library_processor.h"
#include "filters/library/library_use.h"

namespace sluice::filters {
namespace {

using library::LibraryFolder;
using library::LibraryProcessor;
using library::LibraryUse;
using processing::Phase;

/// Awaits another file in the place of the one that could not be used, or that was missing.
class AwaitedLibrary final : public processing::Awaited {
 public:
  AwaitedLibrary(std::shared_ptr<const LibraryFolder> folder, std::string file)
      : folder_(std::move(folder)), file_(std::move(file)), seen_(folder_->identityOf(file_)) {}
  bool mayHaveCome() const override { return folder_->identityOf(file_) != seen_; }

 private:
  const std::shared_ptr<const LibraryFolder> folder_;
  const std::string file_;
  const std::string seen_;
};

processing::Made makeLibraryProcessor(const std::shared_ptr<const LibraryFolder>& folder, const processing::Use& use) {
  const std::string& file = use.engine->find("file")->text;
  auto awaited = std::make_shared<const AwaitedLibrary>(folder, file);
  const auto offered = folder->load(file);
  if (!offered) return {nullptr, {"UnsupportedExtensionType", offered.error().detail}, std::move(awaited)};
  const sluice_processor& library = **offered;
  // A use without a phase needs one that both have; a use with a phase needs that one.
  if ((library.phases & use.phases) == 0) {
    return {nullptr, {"UnsupportedExtensionType", "library " + file + ": it does not run in this phase"}};
  }
  auto configured = LibraryUse::make(library, use);
  if (!configured) return {nullptr, {"InvalidConfig", configured.error().detail}};
  auto processor = std::make_shared<const LibraryProcessor>(
      std::move(configured).value(), library::LibraryUseName{std::string(use.type), std::string(use.name)}, use.phases);
  if (!processor->fault().empty()) {
    return {nullptr, {"UnsupportedExtensionType", "library " + file + ": " + processor->fault()}};
  }
  return {std::move(processor), {}};
}

}  // namespace

processing::BuiltinType libraryEngine(std::string folder) {
  const auto shared = std::make_shared<const LibraryFolder>(std::move(folder));
  return {.phases = {Phase::kRequestHeaders, Phase::kRequestBody, Phase::kConnect, Phase::kBackendRequest,
                     Phase::kBackendResponse, Phase::kResponseHeaders, Phase::kResponseBody},
          .preAuth = true,
          .make = [shared](const processing::Use& use) { return makeLibraryProcessor(shared, use); },
          .spans = true,
          .engine = "library"};
}

}  // namespace sluice::filters

#include "filters/library/library_use.h"

#include <array>
#include <string_view>

#include "filters/library/border.h"
#include "proxy/content/json.h"

namespace sluice::filters::library {

base::Result<std::unique_ptr<const LibraryUse>> LibraryUse::make(const sluice_processor& processor,
                                                                 const processing::Use& use) {
  const std::string config = content::writeJson(use.config);
  std::array<char, 512> reason{};
  void* configured = nullptr;
  std::string thrown;
  const std::size_t length = across<std::size_t>(
      [&] {
        return processor.configure(use.type.data(), use.type.size(), config.data(), config.size(), use.phases,
                                   &configured, reason.data(), reason.size());
      },
      0, thrown);
  if (!thrown.empty()) return base::Error::config("the library has thrown " + thrown);
  if (length == 0) return std::make_unique<const LibraryUse>(processor, configured);
  if (length > reason.size()) {
    return base::Error::config("the library gave a reason of " + std::to_string(length) + " bytes");
  }
  return base::Error::config(std::string(reason.data(), length));
}

LibraryUse::~LibraryUse() {
  across([this] { processor_.release(configured_); });
}

}  // namespace sluice::filters::library

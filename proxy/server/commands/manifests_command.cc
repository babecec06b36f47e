#include "proxy/server/commands/manifests_command.h"

#include <cstddef>
#include <string_view>

#include "proxy/server/commands/embedded_manifests.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {
namespace {

/// The words of the files that options replace. They occur nowhere else in the files.
constexpr std::string_view kNamespaceWord = "sluice-system";
constexpr std::string_view kImageWord = "sluice:" SLUICE_VERSION;

void replaceAll(std::string& text, std::string_view word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
}

}  // namespace

std::string manifestsText(const ManifestOptions& options) {
  std::string text;
  for (const std::string_view file : embeddedManifests()) {
    if (!text.empty()) text += "---\n";
    text += file;
  }
  if (!options.nameSpace.empty()) replaceAll(text, kNamespaceWord, options.nameSpace);
  // The image comes last, because its name may contain the other word.
  if (!options.image.empty()) replaceAll(text, kImageWord, options.image);
  return text;
}

int printManifests(const ManifestOptions& options) {
  print(manifestsText(options));
  return 0;
}

}  // namespace sluice::server

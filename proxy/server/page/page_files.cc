#include "proxy/server/page/page_files.h"

#include <memory>
#include <string>

#include "proxy/server/page/embedded_page.h"

namespace sluice::server {
namespace {

constexpr std::string_view kScript = "text/javascript; charset=utf-8";

}  // namespace

std::span<const PageFile> pageFiles() {
  static const std::span<const std::string_view> texts = embeddedPage();
  static const PageFile kFiles[] = {
      {"/", "text/html; charset=utf-8", texts[0]},   {"/page/page.css", "text/css; charset=utf-8", texts[1]},
      {"/page/page.js", kScript, texts[2]},          {"/page/sections.js", kScript, texts[3]},
      {"/page/explain.js", kScript, texts[4]},       {"/page/words.js", kScript, texts[5]},
      {"/page/icon.svg", "image/svg+xml", texts[6]},
  };
  return kFiles;
}

void addPageFiles(AdminPages& pages) {
  for (const PageFile& file : pageFiles()) {
    // All answers share one text, so clients that do not read keep no copies.
    pages[std::string(file.path)] = [type = std::string(file.contentType),
                                     text = std::make_shared<const std::string>(file.text)] {
      return AdminDocument{200, type, text};
    };
  }
}

}  // namespace sluice::server

// The files of the page that browsers show, and their paths on the admin port.
#pragma once

#include <span>
#include <string_view>

#include "proxy/server/admin/admin_page.h"

namespace sluice::server {

struct PageFile {
  std::string_view path;
  std::string_view contentType;
  std::string_view text;
};

std::span<const PageFile> pageFiles();

void addPageFiles(AdminPages& pages);

}  // namespace sluice::server

// The files of the page, as parts of the program. The build makes the source of it.
#pragma once

#include <span>
#include <string_view>

namespace sluice::server {

/// Returns the texts of the files in proxy/server/page/assets, in the order that CMakeLists.txt gives them.
std::span<const std::string_view> embeddedPage();

}  // namespace sluice::server

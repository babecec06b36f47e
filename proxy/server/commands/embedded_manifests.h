// The files of config/kustomize/default and of the folders that it names, in their order, as parts of the program. The
// build makes the source of it.
#pragma once

#include <span>
#include <string_view>

namespace sluice::server {

/// Returns the texts of the files.
std::span<const std::string_view> embeddedManifests();

}  // namespace sluice::server

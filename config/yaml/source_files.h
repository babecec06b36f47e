// Reads the texts of configuration files. No other part of config/ touches the file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"
#include "config/yaml/source_text.h"

namespace sluice::config {

/// Returns true if a folder's file of this name is read: *.yaml, *.yml and *.json, but no hidden files, because those
/// include the folders behind a mounted ConfigMap.
bool isConfigurationFile(std::string_view name);

/// Returns the texts of all paths, in order; see readPaths(). A path that cannot be read is an error in `problems`. If
/// a folder is replaced as a whole meanwhile, as a mounted ConfigMap is, everything is read again, so that no two texts
/// are of different versions of it. After a few times in vain that is an error too; the last replacement, like any
/// change, makes the caller's watch read once more.
std::vector<SourceText> readSourceFiles(const std::vector<std::string>& paths, Problems& problems);

}  // namespace sluice::config

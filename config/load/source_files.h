// Reads the texts of configuration files. No other part of config/ touches the file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/ground/problem.h"
#include "config/load/text_cache.h"
#include "config/yaml/source_text.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// Returns true if a folder's file of this name is read: *.yaml, *.yml and *.json, but no hidden files, because those
/// include the folders behind a mounted ConfigMap.
bool isConfigurationFile(std::string_view name);

/// Returns the folder and those below it that have configuration files, each once, sorted; no hidden ones, and none
/// that links lead to. A folder that cannot be read is an error in `problems`.
std::vector<std::string> configurationFolders(const std::string& folder, Problems& problems);

/// Returns the texts of all paths, in order; see readPaths(). A file whose stamp in `cache` it still has is not read
/// again. `now` is the time, by which files are recognised that changed too recently for their stamps to tell. A path
/// that cannot be read is an error in `problems`. If a folder is replaced as a whole meanwhile, as a mounted ConfigMap
/// is, everything is read again, so that no two texts are of different versions of it. After a few times in vain that
/// is an error too; the last replacement, like any change, makes the caller's watch read once more.
KeptTexts readSourceFiles(const std::vector<std::string>& paths, base::WallTime now, TextCache& cache,
                          Problems& problems);

}  // namespace sluice::config

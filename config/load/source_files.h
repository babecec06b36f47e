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

/// Returns true if a file with this name in a folder is read: *.yaml, *.yml and *.json. Hidden files are not read,
/// because the folders behind a mounted ConfigMap are hidden files.
bool isConfigurationFile(std::string_view name);

/// Returns the folder and its subfolders that have configuration files, without duplicates and sorted. Hidden folders
/// and folders behind links are left out. If a folder cannot be read, that is an error in `problems`.
std::vector<std::string> configurationFolders(const std::string& folder, Problems& problems);

/// Returns the texts of all paths, in order; see readPaths(). A file is not read again if it still has its stamp in
/// `cache`. `now` is the current time: a file that changed shortly before is always read again, because its stamp is
/// not reliable. If a path cannot be read, that is an error in `problems`.
///
/// A folder, such as a mounted ConfigMap, may be replaced as a whole during the reading. Then everything is read again,
/// so that all texts belong to the same version of it. After a few attempts this becomes an error. The last
/// replacement, like any change, makes the caller's watch read once more.
KeptTexts readSourceFiles(const std::vector<std::string>& paths, base::WallTime now, TextCache& cache,
                          Problems& problems);

}  // namespace sluice::config

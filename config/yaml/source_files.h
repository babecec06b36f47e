// Configuration files -> their texts: the only part of config/ that touches the file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"
#include "config/yaml/source_text.h"

namespace sluice::config {

/// Whether a folder's file of this name is taken: *.yaml, *.yml and *.json, but no hidden ones, among which are the
/// folders behind a mounted ConfigMap.
bool isConfigurationFile(std::string_view name);

/// The texts of all paths, in order; see readPaths(). A path that can not be read is an error in `problems`.
std::vector<SourceText> readSourceFiles(const std::vector<std::string>& paths, Problems& problems);

}  // namespace sluice::config

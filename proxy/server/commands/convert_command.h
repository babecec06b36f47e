// `sluice convert`: prints the objects of files in our spelling.
#pragma once

#include <string>
#include <vector>

namespace sluice::server {

/// Prints the objects, with a comment for each field that has no counterpart. Returns 0 if there is no such comment,
/// else 1. Also returns 1, with messages and without any object, if a path or a text cannot be read.
int convertFiles(const std::vector<std::string>& paths);

}  // namespace sluice::server

// Reads files of the source tree for tests that compare a text with the code.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace sluice::config {

/// Returns "" if the file cannot be read.
inline std::string fileText(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace sluice::config

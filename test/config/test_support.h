// Shorthands for the problems of a configuration, used by the tests of config/.
#pragma once

#include <string>
#include <vector>

#include "config/ground/problem.h"
#include "config/load/load.h"

namespace sluice::config {

inline std::vector<std::string> rendered(const Problems& problems) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(render(problem));
  return lines;
}

/// Returns an object's document: a header of apiVersion, kind and metadata.name, followed by `rest`.
inline std::string object(const std::string& apiVersion, const std::string& kind, const std::string& name,
                          const std::string& rest) {
  return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name + "}\n" + rest;
}

}  // namespace sluice::config

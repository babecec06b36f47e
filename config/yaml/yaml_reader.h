// YAML text -> documents. JSON is read by it too, being YAML.
//
// Scalars mean what they mean to Kubernetes: quoted ones are strings, plain ones booleans (true, false), numbers, null
// or strings. Stricter than YAML where leniency hides mistakes: duplicate keys, aliases, tags and control characters
// are errors. A pure function; bounded in text, depth and nodes, so that no text can exhaust the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "config/problem.h"
#include "config/yaml/document.h"

namespace sluice::config {

struct YamlLimits {
  std::size_t textBytes = 16 * 1024 * 1024;
  std::size_t depth = 64;       // maps and lists inside each other
  std::size_t nodes = 1000000;  // of all documents of the text together
};

/// Where the text comes from, if it is not a whole file: added to lines and columns.
struct YamlOrigin {
  std::shared_ptr<const std::string> file;
  std::uint32_t lineOffset = 0;
  std::uint32_t columnOffset = 0;
};

/// Hands on each document of the text, in order, and keeps none; one that is empty has a null root. If anything is
/// wrong, false, and one error in `problems`: some documents may have been handed on before.
bool forEachDocument(std::string_view text, const YamlOrigin& origin, Problems& problems,
                     const std::function<void(const Value& root)>& take, const YamlLimits& limits = {});

/// All documents of the text. If anything is wrong, nothing, and one error in `problems`.
std::vector<Document> readYaml(std::string_view text, const YamlOrigin& origin, Problems& problems,
                               const YamlLimits& limits = {});

}  // namespace sluice::config

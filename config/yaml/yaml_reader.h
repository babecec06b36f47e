// Parses YAML text into documents. JSON is read as YAML too.
//
// Scalars have the same meaning as in Kubernetes. Quoted ones are strings. Plain ones are booleans (true, false),
// numbers, null or strings. The reader is stricter than YAML where leniency hides mistakes: duplicate keys, aliases,
// tags and control characters are errors. These are pure functions. Their limits on text, depth and nodes ensure that
// no text can exhaust the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/problem.h"

namespace sluice::config {

struct YamlLimits {
  std::size_t textBytes = 16 * 1024 * 1024;
  std::size_t depth = 64;        // nested maps and lists
  std::size_t nodes = 1000000;   // in all documents of the text together
  std::size_t tokens = 3200000;  // read ahead of one value; see lookahead.h
};

/// The origin of a text that is not a whole file. The offsets are added to lines and columns.
struct YamlOrigin {
  std::shared_ptr<const std::string> file;
  std::uint32_t lineOffset = 0;
  std::uint32_t columnOffset = 0;
};

/// Passes each document of the text to `take` in order and keeps none. An empty document has a null root. If anything
/// is wrong, returns false and adds one error to `problems`; `take` may have been called before.
bool forEachDocument(std::string_view text, const YamlOrigin& origin, Problems& problems,
                     const std::function<void(const Value& root)>& take, const YamlLimits& limits = {});

/// Returns all documents of the text. If anything is wrong, returns none and adds one error to `problems`.
std::vector<Document> readYaml(std::string_view text, const YamlOrigin& origin, Problems& problems,
                               const YamlLimits& limits = {});

}  // namespace sluice::config

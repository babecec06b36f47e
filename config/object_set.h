// An ObjectSet is a complete set of objects as its source has it: each is read by itself, and none of them are put
// together yet.
//
// It is a value that is cheap to copy: readings are shared with whoever keeps them, and never change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/object_reading.h"
#include "config/problem.h"
#include "config/text_memo.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"

namespace sluice::config {

struct ObjectSet {
  /// In the order of the source: of two that define one object the first counts.
  std::vector<std::shared_ptr<const std::vector<ObjectReading>>> readings;
  /// Problems that were met on the way to the objects. An error refuses the whole set.
  Problems problems;
  /// The revision of a set that is refused whole; empty if it is not.
  std::string refused;
};

/// Reads the objects of texts; `problems` were met on the way to them. `memo` spares the parsing of texts that were
/// in the set before, and changes nothing else. Of a set that is refused because a path could not be read, the objects
/// are there all the same, to say what is wrong with them; of one in which a text is no YAML, they are not.
ObjectSet readTexts(const std::vector<SourceText>& texts, Problems problems, const base::Secret& key, TextMemo& memo);

/// Reads files: each path is one, or a folder whose *.yaml, *.yml and *.json files are taken in the order of their
/// names, subfolders not. `key` is that of revisions: there is one for the life of a process, and known to nobody else.
ObjectSet readPaths(const std::vector<std::string>& paths, const base::Secret& key, TextMemo& memo);

}  // namespace sluice::config

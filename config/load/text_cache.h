// A TextCache keeps the texts of files and the objects read from each text. So a file that has not changed is not read
// again, and an equal text is not parsed again.
//
// Texts are compared as a whole. A cache belongs to one thread and to one reader of successive configurations.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/ground/problem.h"
#include "config/load/object_reading.h"
#include "config/yaml/source_text.h"
#include "proxy/base/cache.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// The result of reading one text. If the text is not YAML, the result has one problem and no objects.
struct TextReading {
  std::vector<ObjectReading> objects;
  Problems unreadable;
};

/// Describes the state of a regular file in the file system.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  base::WallTime modified;
  base::WallTime changed;  // time of the last change of content, name or permissions; no program can set it back

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// With this time, no stamp is trusted and every file is read.
inline constexpr base::WallTime kReadAllFiles = base::WallTime::min();

struct ReadText {
  std::shared_ptr<const KeptText> text;
  std::shared_ptr<const TextReading> reading;  // null if the text was read from its file and not parsed yet
  std::optional<FileStamp> stamp;              // nullopt if the file, if there is one, has to be read again
};

/// The key is the name of the file. A round consists of all texts of one configuration. All rounds have the same
/// ReadingRules.
using TextCache = base::Cache<std::string, ReadText>;

/// Returns the earlier text if the cache has an equal one.
const ReadText& readText(const std::shared_ptr<const KeptText>& source, const ReadingRules& rules, TextCache& cache);
const ReadText& readText(const SourceText& source, const ReadingRules& rules, TextCache& cache);

}  // namespace sluice::config

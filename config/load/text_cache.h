// A TextCache keeps the texts of files and the objects read from each text, so that a file that has not changed is not
// read again, and an equal text not parsed again.
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

/// The result of reading one text. A text that is not YAML has that as its one problem and no objects.
struct TextReading {
  std::vector<ObjectReading> objects;
  Problems unreadable;
};

/// Describes a regular file as the file system knows it.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  base::WallTime modified;
  base::WallTime changed;  // when the content, the name or the permissions changed; no program can set it back

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The time with which no stamp is trusted, and every file is read.
inline constexpr base::WallTime kReadAllFiles = base::WallTime::min();

struct ReadText {
  std::shared_ptr<const KeptText> text;
  std::shared_ptr<const TextReading> reading;  // null as long as the text has only been read from its file
  std::optional<FileStamp> stamp;              // none: the file, if there is one, has to be read again
};

/// The key is the file; a round is all texts of one configuration. All rounds have the same ReadingRules.
using TextCache = base::Cache<std::string, ReadText>;

/// Returns the text that was read first, if the cache has an equal one.
const ReadText& readText(const std::shared_ptr<const KeptText>& source, const ReadingRules& rules, TextCache& cache);
const ReadText& readText(const SourceText& source, const ReadingRules& rules, TextCache& cache);

}  // namespace sluice::config

// A TextCache keeps the objects read from each text, so that a text that has not changed is not parsed again.
//
// Texts are compared as a whole. A cache belongs to one thread and to one reader of successive configurations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/object_reading.h"
#include "config/problem.h"
#include "config/yaml/source_text.h"
#include "proxy/base/cache.h"
#include "proxy/base/secret.h"

namespace sluice::config {

/// The result of reading one text. A text that is not YAML has that as its one problem and no objects.
struct TextReading {
  std::vector<ObjectReading> objects;
  Problems unreadable;
};

/// A text that outlives its reading, for whoever stores a configuration.
struct KeptText {
  std::string file;
  base::Secret text;  // it may hold Secrets
};

struct ReadText {
  std::shared_ptr<const KeptText> text;
  std::shared_ptr<const TextReading> reading;
};

/// The key is the file; a round is all texts of one configuration. All rounds have the same ReadingRules.
using TextCache = base::Cache<std::string, ReadText>;

const ReadText& readText(const SourceText& source, const ReadingRules& rules, TextCache& cache);

}  // namespace sluice::config

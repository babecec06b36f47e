// What texts said when they were read last, so that one that is the same is not parsed again.
//
// By the text itself, compared whole: what comes out of a memo never depends on what it has seen. Owned by who reads
// configurations again and again, on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/object_reading.h"
#include "config/problem.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"

namespace sluice::config {

/// A text by itself. If it is no YAML, that is its one problem, and it has no objects.
struct TextReading {
  std::vector<ObjectReading> objects;
  Problems unreadable;
};

class TextMemo {
 public:
  /// Between two of these are the texts of one configuration; those that it had no more are forgotten.
  void begin();
  void end();
  std::shared_ptr<const TextReading> read(const SourceText& source, const ReadingRules& rules);

 private:
  struct Entry {
    base::Secret text;  // it may hold Secrets
    std::shared_ptr<const TextReading> reading;
    std::uint64_t round = 0;
  };
  std::unordered_map<std::string, Entry> byFile_;
  std::uint64_t round_ = 0;
};

}  // namespace sluice::config

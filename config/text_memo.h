// A TextMemo keeps what texts said when they were read last, so that one that is the same is not parsed again.
//
// Texts are compared whole. The memo belongs to whoever reads configurations again and again, and to one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/object_reading.h"
#include "config/problem.h"
#include "config/yaml/source_text.h"
#include "proxy/base/memo.h"
#include "proxy/base/secret.h"

namespace sluice::config {

/// A text by itself. If it is no YAML, that is its one problem, and it has no objects.
struct TextReading {
  std::vector<ObjectReading> objects;
  Problems unreadable;
};

struct ReadText {
  base::Secret text;  // it may hold Secrets
  std::shared_ptr<const TextReading> reading;
};

/// Its key is the file; a round is the texts of one configuration.
using TextMemo = base::Memo<std::string, ReadText>;

std::shared_ptr<const TextReading> readText(const SourceText& source, const ReadingRules& rules, TextMemo& memo);

}  // namespace sluice::config

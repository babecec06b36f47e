#include "config/load/object_set.h"

#include <utility>

#include "config/load/revision.h"
#include "config/load/source_files.h"

namespace sluice::config {

ObjectSet readTexts(const KeptTexts& texts, Problems problems, const base::Secret& key, TextCache& cache) {
  ObjectSet set;
  set.problems = std::move(problems);
  set.unavailable = hasErrors(set.problems);
  bool readable = true;
  set.readings.reserve(texts.size());
  set.texts.reserve(texts.size());
  for (const std::shared_ptr<const KeptText>& text : texts) {
    const ReadText& read = readText(text, {Severity::kError, key}, cache);
    const std::shared_ptr<const TextReading>& reading = read.reading;
    readable = readable && reading->unreadable.empty();
    set.problems.insert(set.problems.end(), reading->unreadable.begin(), reading->unreadable.end());
    set.readings.emplace_back(reading, &reading->objects);
    set.texts.push_back(read.text);
  }
  cache.sweep();
  if (!readable) set.readings.clear();
  if (hasErrors(set.problems)) set.refused = digestOfUnreadable(texts, set.problems, key);
  return set;
}

ObjectSet readTexts(const std::vector<SourceText>& texts, Problems problems, const base::Secret& key,
                    TextCache& cache) {
  KeptTexts kept;
  for (const SourceText& text : texts) {
    kept.push_back(std::make_shared<const KeptText>(text.file, base::Secret(text.text)));
  }
  return readTexts(kept, std::move(problems), key, cache);
}

ObjectSet readPaths(const std::vector<std::string>& paths, const base::Secret& key, TextCache& cache,
                    base::WallTime now) {
  Problems problems;
  const KeptTexts texts = readSourceFiles(paths, now, cache, problems);
  return readTexts(texts, std::move(problems), key, cache);
}

}  // namespace sluice::config

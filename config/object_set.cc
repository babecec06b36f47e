#include "config/object_set.h"

#include <utility>

#include "config/revision.h"
#include "config/yaml/source_files.h"

namespace sluice::config {

ObjectSet readTexts(const std::vector<SourceText>& texts, Problems problems, const base::Secret& key,
                    TextCache& cache) {
  ObjectSet set;
  set.problems = std::move(problems);
  set.unavailable = hasErrors(set.problems);
  bool readable = true;
  for (const SourceText& text : texts) {
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

ObjectSet readPaths(const std::vector<std::string>& paths, const base::Secret& key, TextCache& cache) {
  Problems problems;
  const std::vector<SourceText> texts = readSourceFiles(paths, problems);
  return readTexts(texts, std::move(problems), key, cache);
}

}  // namespace sluice::config

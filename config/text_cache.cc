#include "config/text_cache.h"

#include "config/yaml/yaml_reader.h"

namespace sluice::config {
namespace {

std::shared_ptr<const TextReading> readSource(const SourceText& source, const ReadingRules& rules) {
  auto reading = std::make_shared<TextReading>();
  const YamlOrigin origin{std::make_shared<const std::string>(source.file)};
  const auto take = [&](const Value& root) { readObjects(root, rules, reading->objects); };
  // The objects before the error must not be served either: a text is used as a whole or not at all.
  if (!forEachDocument(source.text, origin, reading->unreadable, take)) reading->objects.clear();
  reading->objects.shrink_to_fit();
  return reading;
}

}  // namespace

const ReadText& readText(const SourceText& source, const ReadingRules& rules, TextCache& cache) {
  const auto same = [&](const ReadText& read) { return read.text->text.reveal() == source.text; };
  const auto read = [&] {
    return ReadText{std::make_shared<const KeptText>(source.file, base::Secret(source.text)),
                    readSource(source, rules)};
  };
  return cache.get(source.file, same, read);
}

}  // namespace sluice::config

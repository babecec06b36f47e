#include "config/text_cache.h"

#include "config/yaml/yaml_reader.h"

namespace sluice::config {
namespace {

std::shared_ptr<const TextReading> readSource(const KeptText& source, const ReadingRules& rules) {
  auto reading = std::make_shared<TextReading>();
  const YamlOrigin origin{std::make_shared<const std::string>(source.file)};
  const auto take = [&](const Value& root) { readObjects(root, rules, reading->objects); };
  // The objects before the error must not be served either: a text is used as a whole or not at all.
  if (!forEachDocument(source.text.reveal(), origin, reading->unreadable, take)) reading->objects.clear();
  reading->objects.shrink_to_fit();
  return reading;
}

}  // namespace

const ReadText& readText(const std::shared_ptr<const KeptText>& source, const ReadingRules& rules, TextCache& cache) {
  std::optional<FileStamp> stamp;
  const auto same = [&](const ReadText& read) {
    if (read.text == source) stamp = read.stamp;
    return read.reading != nullptr && (read.text == source || read.text->text.reveal() == source->text.reveal());
  };
  return cache.get(source->file, same, [&] { return ReadText{source, readSource(*source, rules), stamp}; });
}

const ReadText& readText(const SourceText& source, const ReadingRules& rules, TextCache& cache) {
  return readText(std::make_shared<const KeptText>(source.file, base::Secret(source.text)), rules, cache);
}

}  // namespace sluice::config

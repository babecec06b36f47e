#include "config/text_memo.h"

#include <utility>

#include "config/yaml/yaml_reader.h"

namespace sluice::config {
namespace {

std::shared_ptr<const TextReading> readSource(const SourceText& source, const ReadingRules& rules) {
  auto reading = std::make_shared<TextReading>();
  const YamlOrigin origin{std::make_shared<const std::string>(source.file)};
  const auto take = [&](const Value& root) { readObjects(root, rules, reading->objects); };
  // What came before the fault is not to be served either (C-11).
  if (!forEachDocument(source.text, origin, reading->unreadable, take)) reading->objects.clear();
  reading->objects.shrink_to_fit();
  return reading;
}

}  // namespace

void TextMemo::begin() { ++round_; }

void TextMemo::end() {
  std::erase_if(byFile_, [this](const auto& entry) { return entry.second.round != round_; });
}

std::shared_ptr<const TextReading> TextMemo::read(const SourceText& source, const ReadingRules& rules) {
  Entry& entry = byFile_[source.file];
  if (!entry.reading || entry.text.reveal() != source.text) {
    entry.reading = readSource(source, rules);
    entry.text = base::Secret(source.text);
  }
  entry.round = round_;
  return entry.reading;
}

}  // namespace sluice::config

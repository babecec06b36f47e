#include "config/load/text_cache.h"

#include <utility>

#include "config/yaml/yaml_reader.h"
#include "proxy/content/json.h"

namespace sluice::config {
namespace {

/// An API server accepts objects of at most 1.5 MB, but requests of 3 MB.
constexpr content::JsonLimits kApiObjectLimits{.bytes = 8 * 1024 * 1024};

/// Removes the positions, because no user has written the text and could use them.
void forgetPlaces(Value& value) {
  value.position = {};
  for (Value& item : value.items) forgetPlaces(item);
  for (Member& member : value.members) {
    member.position = {};
    forgetPlaces(member.value);
  }
}

/// The API server has checked the object against the schema of its CRD, which may be newer than this program. So
/// unknown fields are warnings.
std::shared_ptr<const TextReading> readApiObject(const KeptText& source, const base::Secret& key) {
  auto reading = std::make_shared<TextReading>();
  if (auto root = content::parseJson(source.text.reveal(), kApiObjectLimits)) {
    forgetPlaces(*root);
    readObjects(*root, {Severity::kWarning, key}, reading->objects);
    reading->objects.shrink_to_fit();
  } else {
    Problem problem;
    problem.message = source.file + " is not JSON: " + root.error().detail;
    reading->unreadable.push_back(std::move(problem));
  }
  return reading;
}

std::shared_ptr<const TextReading> readSource(const KeptText& source, const ReadingRules& rules) {
  if (isOfApiServer(source.file)) return readApiObject(source, rules.key);
  auto reading = std::make_shared<TextReading>();
  const YamlOrigin origin{std::make_shared<const std::string>(source.file)};
  const auto take = [&](const Value& root) { readObjects(root, rules, reading->objects); };
  // The objects before the error must not be served either, because a text is used as a whole or not at all.
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

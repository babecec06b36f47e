#include "config/load.h"

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/last_good.h"
#include "config/model/name_hash.h"
#include "config/object_reading.h"
#include "config/read/settings_reader.h"
#include "config/revision.h"
#include "config/yaml/source_files.h"

namespace sluice::config {
namespace {

/// Puts the objects of one configuration together, one after the other.
class Assembler {
 public:
  void add(const ObjectReading& reading) {
    if (reading.revision) {
      (reading.revision->covers == Covers::kEndpoints ? endpoints_ : revision_).push_back(&*reading.revision);
    }
    if (isRepeated(reading)) return;
    problems_.insert(problems_.end(), reading.problems.begin(), reading.problems.end());
    if (reading.object) reading.kind->put(reading.object, model_);
    if (reading.rejected) model_.rejected.push_back(*reading.rejected);
  }

  /// The readings are still there.
  Configuration finish(const Model* previous) && {
    Configuration configuration;
    configuration.model = std::move(model_);
    configuration.problems = std::move(problems_);
    if (previous != nullptr) keepLastGood(configuration.model, *previous);
    resolveSettings(configuration.model, previous, configuration.problems);
    configuration.revision = revisionOf(std::move(revision_));
    configuration.endpointsDigest = revisionOf(std::move(endpoints_));
    return configuration;
  }

 private:
  bool isRepeated(const ObjectReading& reading) {
    const ObjectIdentity& identity = reading.identity;
    if (reading.kind == nullptr || identity.name.empty()) return false;
    const auto [earlier, isNew] =
        seen_.try_emplace({identity.group, identity.kind, identity.nameSpace, identity.name}, &reading.position);
    if (isNew) return false;
    ObjectContext context(identity.kind + " " + identity.qualifiedName(), problems_);
    context.error(reading.position, "metadata.name",
                  "this object is defined twice, first at " + std::string(earlier->second->fileName()) + ":" +
                      std::to_string(earlier->second->line) + ", which counts");
    return true;
  }

  using Name = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  Model model_;
  Problems problems_;
  std::unordered_map<Name, const Position*, NameHash> seen_;
  std::vector<const RevisionEntry*> revision_;
  std::vector<const RevisionEntry*> endpoints_;
};

/// `problems`: what was met on the way to the texts. Of a set that is refused whole, the objects still say what is
/// wrong with them if they are legible at all.
Configuration loadSources(const std::vector<SourceText>& texts, Problems problems, const base::Secret& key,
                          const Model* previous, TextMemo& memo) {
  std::vector<std::shared_ptr<const TextReading>> readings;
  bool readable = true;
  for (const SourceText& text : texts) {
    readings.push_back(readText(text, {Severity::kError, key}, memo));
    const Problems& found = readings.back()->unreadable;
    readable = readable && found.empty();
    problems.insert(problems.end(), found.begin(), found.end());
  }
  memo.sweep();
  Configuration configuration;
  if (readable) {
    Assembler assembler;
    for (const auto& reading : readings) {
      for (const ObjectReading& object : reading->objects) assembler.add(object);
    }
    configuration = std::move(assembler).finish(previous);
  }
  if (hasErrors(problems)) {
    configuration.readable = false;
    configuration.model = Model();
    configuration.revision = revisionOfUnreadable(texts, problems, key);
  }
  problems.insert(problems.end(), configuration.problems.begin(), configuration.problems.end());
  configuration.problems = std::move(problems);
  return configuration;
}

}  // namespace

Configuration loadDocuments(const std::vector<Document>& documents, Severity unknownFields, const base::Secret& key,
                            const Model* previous) {
  std::vector<ObjectReading> readings;
  for (const Document& document : documents) readObjects(document.root, {unknownFields, key}, readings);
  Assembler assembler;
  for (const ObjectReading& reading : readings) assembler.add(reading);
  return std::move(assembler).finish(previous);
}

Configuration loadTexts(const std::vector<SourceText>& texts, const base::Secret& key, const Model* previous) {
  TextMemo memo;
  return loadSources(texts, {}, key, previous, memo);
}

Configuration loadText(std::string_view text, std::string_view file) {
  return loadTexts({SourceText{std::string(file), std::string(text)}}, base::Secret());
}

Configuration loadPaths(const std::vector<std::string>& paths, const base::Secret& key, const Model* previous,
                        TextMemo& memo) {
  Problems problems;
  const std::vector<SourceText> texts = readSourceFiles(paths, problems);
  return loadSources(texts, std::move(problems), key, previous, memo);
}

}  // namespace sluice::config

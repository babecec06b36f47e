#include "config/load/load.h"

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/load/class_settings.h"
#include "config/load/gateway_settings.h"
#include "config/load/last_good.h"
#include "config/load/last_pairs.h"
#include "config/load/object_reading.h"
#include "config/load/revision.h"
#include "config/model/name_tuple_hash.h"

namespace sluice::config {
namespace {

/// Assembles the objects of one configuration one by one.
class Assembler {
 public:
  void add(const ObjectReading& reading) {
    if (reading.revision) {
      (reading.revision->covers == Covers::kEndpoints ? endpoints_ : entries_).push_back(&*reading.revision);
    }
    if (isRepeated(reading)) return;
    problems_.insert(problems_.end(), reading.problems.begin(), reading.problems.end());
    if (reading.object) reading.kind->put(reading.object, model_);
    if (reading.rejected) model_.rejected.push_back(*reading.rejected);
  }

  /// Finishes the Model. The readings must still exist.
  Configuration finish(const Model* previous) && {
    Configuration configuration;
    configuration.model = std::move(model_);
    configuration.problems = std::move(problems_);
    if (previous != nullptr) keepLastGood(configuration.model, *previous);
    resolveSettings(configuration.model, configuration.problems);
    applyOwnSettings(configuration.model);
    configuration.digest = digestOf(std::move(entries_));
    configuration.endpointsDigest = digestOf(std::move(endpoints_));
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

  Model model_;
  Problems problems_;
  std::unordered_map<ObjectNameView, const Position*, NameTupleHash> seen_;
  std::vector<const RevisionEntry*> entries_;
  std::vector<const RevisionEntry*> endpoints_;
};

}  // namespace

Configuration load(const ObjectSet& set, const Model* previous) {
  Assembler assembler;
  for (const auto& readings : set.readings) {
    for (const ObjectReading& reading : *readings) assembler.add(reading);
  }
  Configuration configuration = std::move(assembler).finish(previous);
  configuration.problems.insert(configuration.problems.begin(), set.problems.begin(), set.problems.end());
  if (!set.refused.empty()) {
    configuration.readable = false;
    configuration.model = Model();
    configuration.digest = set.refused;
  }
  if (previous != nullptr) keepLastPairs(configuration.model, *previous, set.readAt);
  configuration.model.gatewayApi = set.gatewayApi;
  configuration.model.controllerNamespace = set.keeping.controllerNamespace;
  configuration.model.severalGateways = set.keeping.severalGateways;
  if (!set.keeping.classKeys.name.empty()) useDerivedKeys(set.keeping.classKeys, configuration.model.settings);
  configuration.revision = revisionOf(configuration.digest);
  return configuration;
}

Configuration loadTexts(const std::vector<SourceText>& texts, const base::Secret& key, const Model* previous) {
  TextCache cache;
  return load(readTexts(texts, {}, key, cache), previous);
}

Configuration loadText(std::string_view text, std::string_view file) {
  return loadTexts({SourceText{std::string(file), std::string(text)}}, base::Secret());
}

}  // namespace sluice::config

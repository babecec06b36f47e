#include "config/convert/convert.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/convert/converted_kinds.h"
#include "config/convert/new_references.h"
#include "config/load/object_reading.h"
#include "config/yaml/yaml_reader.h"
#include "config/yaml/yaml_writer.h"

namespace sluice::config {
namespace {

using ObjectName = std::tuple<std::string, std::string, std::string, std::string>;

ObjectName nameOfObject(const ObjectIdentity& identity) {
  return {identity.group, identity.kind, identity.nameSpace, identity.name};
}

/// One object of the input, and what becomes of it.
struct ObjectInConversion {
  Value root;
  ObjectReading reading;
  const ConvertedKind* kind = nullptr;  // null if the object needs no conversion
  std::optional<Value> counterpart;     // nullopt if the object stays as it is
  Leftovers left;

  void stay(std::string field, std::string_view why) {
    left.refuse(std::move(field), why);
    counterpart.reset();
  }
};

ObjectReading readingOf(const Value& root) {
  const base::Secret noKey;
  std::vector<ObjectReading> readings;
  readObjects(root, {Severity::kError, noKey}, readings);
  return std::move(readings.front());
}

/// Returns the metadata without the members that API servers write. The time stays, because older objects take
/// precedence.
Value writtenMetadata(const Value& root) {
  const Value* given = root.find("metadata");
  if (given == nullptr) return emptyMap(root.position);
  Value metadata = *given;
  std::erase_if(metadata.members, [](const Member& each) {
    return each.key == "generation" ||
           std::find(std::begin(kServerFields), std::end(kServerFields), each.key) != std::end(kServerFields);
  });
  return metadata;
}

/// Writes the counterpart of an object that could be read.
Value counterpartOf(const ObjectInConversion& object, Leftovers& left) {
  const ConvertedKind& kind = *object.kind;
  Value result = emptyMap(object.root.position);
  addText(result, "apiVersion", std::string(kind.newGroup) + "/" + std::string(kind.newVersion));
  addText(result, "kind", kind.newKind);
  addMember(result, "metadata", writtenMetadata(object.root));
  const Value* given = object.root.find("spec");
  if (kind.write == nullptr && given != nullptr) addMember(result, "spec", *given);
  if (kind.write == nullptr) return result;
  FieldWriter spec(addMap(result, "spec"));
  kind.write(object.reading.object.get(), spec, left);
  return result;
}

/// Returns what is left of an object that was converted, by itself.
Leftovers leftoversOf(const ObjectReading& counterpart, const ObjectInConversion& object) {
  Leftovers left;
  Value unused = emptyMap({});
  FieldWriter writer(unused);
  const bool isSameModel = *counterpart.kind->type == *object.reading.kind->type;
  if (object.kind->write != nullptr && isSameModel) object.kind->write(counterpart.object.get(), writer, left);
  return left;
}

/// Converts an object by itself, without regard to others.
void convertAlone(ObjectInConversion& object) {
  if (object.reading.object == nullptr) {
    for (const Problem& each : object.reading.problems) {
      if (each.severity == Severity::kError) object.left.add(each.field, each.message);
    }
    return object.stay("kind", "its schema refuses it");
  }
  Value counterpart = counterpartOf(object, object.left);
  if (object.left.stays()) return;
  const ObjectReading again = readingOf(counterpart);
  if (const Problem* refused = firstErrorOf(again.problems)) return object.stay(refused->field, refused->message);
  object.left.compare(leftoversOf(again, object));
  object.counterpart = std::move(counterpart);
}

/// Converts all objects of a configuration.
class ObjectConversion {
 public:
  void add(const Value& root) {
    if (root.isNull()) return;
    const ObjectIdentity identityOfRoot = identify(root);
    const Value* items = isListOfObjects(root, identityOfRoot) ? root.find("items") : nullptr;
    if (items != nullptr && items->isList()) {
      for (const Value& each : items->items) add(identityOfRoot.isList() ? each : completeItem(each, root));
      return;
    }
    ObjectInConversion object;
    object.root = root;
    object.reading = readingOf(root);
    const ObjectIdentity& identity = object.reading.identity;
    object.kind = findConvertedKind(identity.group, identity.kind);
    objects_.push_back(std::move(object));
  }

  void finish(ConvertedTexts& result) && {
    for (ObjectInConversion& each : objects_) {
      if (each.kind != nullptr) {
        convertAlone(each);
      } else if (isForeignGroup(each.reading.identity.group)) {
        each.stay("kind", "there is no counterpart of this kind");
      }
    }
    keepRivals();
    keepNamesakes();
    for (const ObjectInConversion& each : objects_) {
      if (each.kind != nullptr && !each.counterpart) staying_.add(each.reading.identity);
    }
    for (ObjectInConversion& each : objects_) print(each, result);
  }

 private:
  /// Keeps EnvoyExtensionPolicies for one object as they are. Only one of them takes effect in a place, while all
  /// PayloadProcessors do.
  void keepRivals() {
    std::map<ObjectName, std::vector<ObjectInConversion*>> byTarget;
    for (ObjectInConversion& each : objects_) {
      const bool isPolicy = each.reading.kind != nullptr && each.reading.kind->isOf<ExtensionPolicy>();
      if (!isPolicy || each.reading.object == nullptr) continue;
      for (const PolicyTarget& target : static_cast<const ExtensionPolicy*>(each.reading.object.get())->targets) {
        auto& rivals =
            byTarget[{target.object.group, target.object.kind, each.reading.identity.nameSpace, target.object.name}];
        if (rivals.empty() || rivals.back() != &each) rivals.push_back(&each);
      }
    }
    for (const auto& [target, rivals] : byTarget) {
      if (rivals.size() < 2) continue;
      for (ObjectInConversion* each : rivals) {
        if (each->counterpart) {
          each->stay("spec.targetRefs",
                     "another EnvoyExtensionPolicy is for the same object, and PayloadProcessors "
                     "for one object all take effect");
        }
      }
    }
  }

  /// Keeps an object as it is if its counterpart would have the name of another object.
  void keepNamesakes() {
    std::map<ObjectName, ObjectName> sources;  // by the name that an object has afterwards
    for (const ObjectInConversion& each : objects_) {
      if (!each.counterpart) sources.emplace(nameOfObject(each.reading.identity), ObjectName());
    }
    for (ObjectInConversion& each : objects_) {
      if (!each.counterpart) continue;
      const ObjectName source = nameOfObject(each.reading.identity);
      const auto [found, isNew] = sources.try_emplace(nameOfObject(identify(*each.counterpart)), source);
      if (isNew || found->second == source) continue;
      each.stay("metadata.name", "another " + std::string(each.kind->newKind) + " would have the same name");
    }
  }

  void print(ObjectInConversion& object, ConvertedTexts& result) const {
    Value& root = object.counterpart ? *object.counterpart : object.root;
    const ObjectIdentity& identity = object.reading.identity;
    const bool isKnown = object.reading.kind != nullptr || isUnsupportedKind(identity.group, identity.kind);
    if (isKnown) renewReferences(root, identity, staying_);
    result.text += "---\n";
    if (!object.left.empty()) {
      result.complete = false;
      result.text += comment(identity.kind + " " + identity.qualifiedName());
    }
    for (const Leftover& each : object.left.all()) {
      const bool opens = each.closes && object.counterpart;
      result.text += comment("not converted: " + each.finding.text() +
                             (opens ? "; its requests got 500, and are served now" : ""));
    }
    result.text += writeYaml(root);
  }

  /// Returns a line with the text. It has no bytes that could end the line for a reader of YAML.
  static std::string comment(const std::string& text) {
    std::string line = "# " + text;
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return line + "\n";
  }

  std::vector<ObjectInConversion> objects_;
  StayingObjects staying_;
};

}  // namespace

ConvertedTexts convertTexts(const KeptTexts& texts) {
  ConvertedTexts result;
  ObjectConversion conversion;
  for (const std::shared_ptr<const KeptText>& text : texts) {
    const YamlOrigin origin{std::make_shared<const std::string>(text->file)};
    forEachDocument(text->text.reveal(), origin, result.problems,
                    [&conversion](const Value& root) { conversion.add(root); });
  }
  if (!hasErrors(result.problems)) std::move(conversion).finish(result);
  return result;
}

}  // namespace sluice::config

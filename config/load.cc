#include "config/load.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "config/field_reader.h"
#include "config/last_good.h"
#include "config/object_identity.h"
#include "config/object_kinds.h"
#include "config/object_readers.h"
#include "config/revision.h"
#include "config/settings_reader.h"
#include "config/source_files.h"
#include "config/text.h"
#include "config/yaml_reader.h"

namespace sluice::config {
namespace {

/// Reads the objects of one configuration, one after the other.
class Loader {
 public:
  Loader(Configuration& configuration, Severity unknownFields)
      : model_(configuration.model), problems_(configuration.problems), unknownFields_(unknownFields) {}

  void readDocument(const Value& root, bool insideList = false) {
    if (root.isNull()) return;
    if (!root.isMap()) {
      problems_.push_back({Severity::kError, root.position, "", "", "must be an object with apiVersion and kind"});
      return;
    }
    const ObjectIdentity identity = identify(root);
    if (identity.isList() && !insideList) {
      readList(root);
      return;
    }
    const ObjectKind* kind = findObjectKind(identity.group, identity.kind);
    if (kind == nullptr || !kind->hasVersion(identity.version)) {
      refuseKind(root, identity, kind);
      return;
    }
    readObject(root, identity, *kind);
  }

 private:
  void readList(const Value& root) {
    ObjectContext context("List", problems_, unknownFields_);
    FieldReader reader(&root, "", root.position, context);
    for (const std::string_view field : {"apiVersion", "kind", "metadata"}) reader.ignore(field);
    constexpr std::size_t kMaxItems = 100000;
    for (const Item& item : reader.list("items", kMaxItems)) readDocument(*item.value, /*insideList=*/true);
    reader.finish();
  }

  void refuseKind(const Value& root, const ObjectIdentity& identity, const ObjectKind* kind) {
    Problem problem;
    const Value* apiVersion = root.find("apiVersion");
    const Value* kindField = root.find("kind");
    problem.position = kindField == nullptr ? root.position : kindField->position;
    problem.object = identity.name.empty() ? identity.kind : identity.kind + " " + identity.qualifiedName();
    const bool hasVersion = apiVersion != nullptr && apiVersion->isString() && !apiVersion->text.empty();
    if (!hasVersion || identity.kind.empty()) {
      problem.message = "must have apiVersion and kind";
    } else if (kind != nullptr) {
      problem.position = apiVersion->position;
      problem.field = "apiVersion";
      problem.message =
          "must be " + groupPrefix(identity) + joinChoices(kind->versions) + ", but is " + quote(apiVersion->text);
    } else if (isUnbuiltKind(identity.group, identity.kind)) {
      problem.message = "kind " + identity.kind + " of " + apiVersion->text + " is not supported";
    } else {
      problem.message = "unknown kind " + quote(identity.kind) + " of " + quote(apiVersion->text);
      const std::string_view meant = closestKind(identity.kind);
      if (meant == identity.kind) problem.message += ": that apiVersion does not have it";
      if (!meant.empty() && meant != identity.kind) problem.message += ": did you mean " + std::string(meant) + "?";
    }
    problems_.push_back(std::move(problem));
  }

  static std::string groupPrefix(const ObjectIdentity& identity) {
    return identity.group.empty() ? "" : identity.group + "/";
  }

  void readObject(const Value& root, const ObjectIdentity& identity, const ObjectKind& kind) {
    ObjectContext context(identity.kind + " " + identity.qualifiedName(), problems_, unknownFields_);
    const auto [earlier, isNew] = seen_.try_emplace(identity.group + "/" + context.object(), root.position);
    if (!isNew && !identity.name.empty()) {
      context.error(root.position, "metadata.name",
                    "this object is defined twice, first at " + std::string(earlier->second.fileName()) + ":" +
                        std::to_string(earlier->second.line) + ", which counts");
      return;
    }
    FieldReader reader(&root, "", root.position, context);
    for (const std::string_view field : {"apiVersion", "kind", "status"}) reader.ignore(field);
    Rejected rejected;
    ObjectMeta meta = readMeta(reader, kind.namespaced);
    rejected.generation = meta.generation;
    kind.read(reader, std::move(meta), model_, rejected);
    if (context.errors() == 0 || identity.name.empty()) return;
    rejected.group = identity.group;
    rejected.kind = identity.kind;
    rejected.nameSpace = identity.nameSpace;
    rejected.name = identity.name;
    rejected.message = context.firstError();
    rejected.position = root.position;
    model_.rejected.push_back(std::move(rejected));
  }

  Model& model_;
  Problems& problems_;
  Severity unknownFields_;
  std::map<std::string, Position> seen_;
};

/// `problems`: what was met on the way to the texts. Of a set that is refused whole, the objects still say what is
/// wrong with them if they are legible at all.
Configuration loadSources(const std::vector<SourceText>& texts, Problems problems, const base::Secret& key,
                          const Model* previous) {
  std::vector<Document> documents;
  Problems unreadable;
  for (const SourceText& text : texts) {
    const YamlOrigin origin{std::make_shared<const std::string>(text.file)};
    for (Document& document : readYaml(text.text, origin, unreadable)) documents.push_back(std::move(document));
  }
  Configuration configuration;
  if (unreadable.empty()) configuration = loadDocuments(documents, Severity::kError, key, previous);
  problems.insert(problems.end(), unreadable.begin(), unreadable.end());
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
  Configuration configuration;
  Loader loader(configuration, unknownFields);
  for (const Document& document : documents) loader.readDocument(document.root);
  if (previous != nullptr) keepLastGood(configuration.model, *previous);
  resolveSettings(configuration.model, previous, configuration.problems);
  configuration.revision = revisionOf(documents, key);
  configuration.endpointsDigest = endpointsDigestOf(documents);
  return configuration;
}

Configuration loadTexts(const std::vector<SourceText>& texts, const base::Secret& key, const Model* previous) {
  return loadSources(texts, {}, key, previous);
}

Configuration loadText(std::string_view text, std::string_view file) {
  return loadTexts({SourceText{std::string(file), std::string(text)}}, base::Secret());
}

Configuration loadPaths(const std::vector<std::string>& paths, const base::Secret& key, const Model* previous) {
  Problems problems;
  const std::vector<SourceText> texts = readSourceFiles(paths, problems);
  return loadSources(texts, std::move(problems), key, previous);
}

}  // namespace sluice::config

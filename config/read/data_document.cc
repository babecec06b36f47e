#include "config/read/data_document.h"

#include <string>
#include <utility>
#include <vector>

#include "config/yaml/yaml_reader.h"

namespace sluice::config {
namespace {

/// Returns the position of the text's first byte. The lines of the text match lines of the file only if it is a literal
/// block.
YamlOrigin originOf(const ConfigMap::DataEntry& entry) {
  if (entry.blockColumn == 0) return YamlOrigin{entry.position.file, entry.position.line - 1, entry.position.column};
  return YamlOrigin{entry.position.file, entry.position.line, entry.blockColumn - 1};
}

}  // namespace

bool readDataDocument(const ConfigMap::DataEntry& entry, std::string_view object, std::string_view key,
                      Problems& problems, const std::function<void(FieldReader)>& take) {
  Problems found;
  const std::vector<Document> documents = readYaml(entry.value, originOf(entry), found);
  ObjectContext context(std::string(object), found);
  if (documents.size() > 1) context.error(documents[1].root.position, "", "must be one document");
  if (found.empty()) take(FieldReader(documents.empty() ? nullptr : &documents[0].root, "", entry.position, context));
  const bool good = !hasErrors(found);
  for (Problem& problem : found) {
    problem.object = object;
    if (entry.blockColumn == 0) problem.position = entry.position;
    problem.field = std::string(key) + (problem.field.empty() ? "" : ": " + problem.field);
    problems.push_back(std::move(problem));
  }
  return good;
}

}  // namespace sluice::config

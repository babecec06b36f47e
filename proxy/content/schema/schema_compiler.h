// Makes a CompiledSchema of a document.
//
// Lives for one compilation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/content/schema/compiled_schema.h"
#include "proxy/content/schema/meta_schemas.h"
#include "proxy/content/schema/schema_registry.h"

namespace sluice::content {

class SchemaCompiler {
 public:
  /// Compiles `schema.document`, which is within the bounds of size and depth. References may lead to the known
  /// documents too, which outlive the compiler.
  SchemaCompiler(CompiledSchema& schema, const SchemaDocuments& known) : schema_(schema), documents_(known) {}

  /// Returns the first fault. The schema must not be used then.
  SchemaFault run();

 private:
  /// A reference that is followed once the schemas of its document are compiled, so that a chain of references needs no
  /// stack.
  struct SchemaLink {
    InPlaceRules* from;
    const Value* reference;
    std::uint32_t resource;
    bool isDynamic;
  };

  const SchemaNode* nodeOf(const Value& schema);
  const SchemaNode* nodeUnder(const Value& schema, std::string_view keyword);
  SchemaNodes nodesUnder(const Value& schema, std::string_view keyword);
  NamedSchemas namedUnder(const Value& schema, std::string_view keyword);

  void read(const Value& schema, SchemaNode& node);
  void readStrings(const Value& schema, SchemaNode& node);
  void readLists(const Value& schema, SchemaNode& node);
  void readMaps(const Value& schema, SchemaNode& node);
  void readPatternProperties(const Value& schema, MapRules& rules);
  void readInPlace(const Value& schema, SchemaNode& node);
  const SchemaPattern* patternOf(const std::string& text, const Value& at);

  void follow(const SchemaLink& link);
  /// Adds a known document. Returns false if none has this URI.
  bool add(const std::string& uri);
  void finishDynamicAnchors();
  void finishDefaults();
  void findCycle();
  void compilePatterns();
  void fail(const SchemaFault& fault);

  CompiledSchema& schema_;
  const SchemaDocuments& documents_;
  SchemaRegistry registry_;
  std::unordered_map<const Value*, SchemaNode*> nodes_;
  std::vector<SchemaLink> links_;
  std::vector<std::pair<MapRules*, const Value*>> properties_;
  std::unordered_map<const SchemaPattern*, const Value*> patterns_;
  SchemaFault fault_;
};

}  // namespace sluice::content

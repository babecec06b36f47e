#include "proxy/content/schema/schema_compiler.h"

#include <algorithm>
#include <memory>
#include <string>

#include "proxy/content/json.h"
#include "proxy/content/schema/schema_bounds.h"
#include "proxy/content/schema/schema_cycles.h"
#include "proxy/content/schema/schema_keywords.h"
#include "proxy/content/schema/uri_reference.h"
#include "proxy/content/schema/value_key.h"

namespace sluice::content {
namespace {

constexpr std::size_t kMaxDescribedBytes = 160;

/// Reads a keyword into `to`. Returns true if the schema has it.
bool readCount(const Value& schema, std::string_view keyword, std::optional<std::uint64_t>& to) {
  const Value* value = schema.find(keyword);
  if (value != nullptr) to = ExactDecimal(value->text).asCount();
  return value != nullptr;
}

bool readNumber(const Value& schema, std::string_view keyword, std::optional<SchemaNumber>& to) {
  const Value* value = schema.find(keyword);
  if (value != nullptr) to = SchemaNumber{ExactDecimal(value->text), value->text};
  return value != nullptr;
}

SortedNames namesIn(const Value& list) {
  SortedNames names;
  for (const Value& item : list.items) names.push_back(item.text);
  std::sort(names.begin(), names.end());
  return names;
}

SchemaKinds kindOfType(std::string_view type) {
  using Kind = Value::Kind;
  if (type == "null") return kindBit(Kind::kNull);
  if (type == "boolean") return kindBit(Kind::kBool);
  if (type == "integer") return kWholeNumber;
  if (type == "number") return kindBit(Kind::kNumber);
  if (type == "string") return kindBit(Kind::kString);
  return type == "array" ? kindBit(Kind::kList) : kindBit(Kind::kMap);
}

void readKinds(const Value& schema, SchemaNode& node) {
  const Value* type = schema.find("type");
  if (type == nullptr) return;
  node.kinds = type->isString() ? kindOfType(type->text) : 0;
  for (const Value& each : type->items) node.kinds = static_cast<SchemaKinds>(node.kinds | kindOfType(each.text));
}

AllowedValues allowed(const Value* begin, const Value* end) {
  AllowedValues values;
  for (const Value* each = begin; each != end; ++each) {
    values.keys.push_back(valueKey(*each));
    if (values.described.size() > kMaxDescribedBytes) continue;
    if (each != begin) values.described += ", ";
    values.described += writeJson(*each);
  }
  std::sort(values.keys.begin(), values.keys.end());
  return values;
}

void readAllowed(const Value& schema, SchemaNode& node) {
  const Value* list = schema.find("enum");
  if (list != nullptr) node.enumerated = allowed(list->items.data(), list->items.data() + list->items.size());
  const Value* constant = schema.find("const");
  if (constant != nullptr) node.constant = allowed(constant, constant + 1);
}

void readNumbers(const Value& schema, SchemaNode& node) {
  NumberRules rules;
  bool any = readNumber(schema, "multipleOf", rules.multipleOf);
  any |= readNumber(schema, "minimum", rules.minimum);
  any |= readNumber(schema, "exclusiveMinimum", rules.exclusiveMinimum);
  any |= readNumber(schema, "maximum", rules.maximum);
  any |= readNumber(schema, "exclusiveMaximum", rules.exclusiveMaximum);
  if (any) node.numbers = std::make_unique<NumberRules>(std::move(rules));
}

}  // namespace

const SchemaNode* findNamed(const NamedSchemas& schemas, std::string_view name) {
  const auto found = std::lower_bound(schemas.begin(), schemas.end(), name,
                                      [](const auto& one, std::string_view other) { return one.first < other; });
  return found != schemas.end() && found->first == name ? found->second : nullptr;
}

SchemaFault SchemaCompiler::run() {
  fail(registry_.add(schema_.document, ""));
  if (!fault_) schema_.root = nodeOf(schema_.document);
  for (std::size_t i = 0; i < links_.size() && !fault_; ++i) follow(SchemaLink(links_[i]));
  if (!fault_) findCycle();
  if (!fault_) compilePatterns();
  if (fault_) return fault_;
  finishDynamicAnchors();
  finishDefaults();
  return {};
}

/// Returns the node of a known schema, and compiles it with all schemas below it if it has no node yet.
const SchemaNode* SchemaCompiler::nodeOf(const Value& schema) {
  const auto [known, isNew] = nodes_.try_emplace(&schema, nullptr);
  if (!isNew) return known->second;
  SchemaNode& node = schema_.nodes.emplace_back();
  known->second = &node;
  node.resource = registry_.resourceOf(schema);
  node.refusesAll = schema.text == "false";
  if (schema.isMap()) read(schema, node);
  return &node;
}

const SchemaNode* SchemaCompiler::nodeUnder(const Value& schema, std::string_view keyword) {
  const Value* below = schema.find(keyword);
  return below == nullptr ? nullptr : nodeOf(*below);
}

SchemaNodes SchemaCompiler::nodesUnder(const Value& schema, std::string_view keyword) {
  SchemaNodes nodes;
  const Value* list = schema.find(keyword);
  if (list == nullptr) return nodes;
  for (const Value& each : list->items) nodes.push_back(nodeOf(each));
  return nodes;
}

NamedSchemas SchemaCompiler::namedUnder(const Value& schema, std::string_view keyword) {
  NamedSchemas named;
  const Value* map = schema.find(keyword);
  if (map == nullptr) return named;
  for (const Member& each : map->members) named.emplace_back(each.key, nodeOf(each.value));
  std::sort(named.begin(), named.end());
  return named;
}

void SchemaCompiler::read(const Value& schema, SchemaNode& node) {
  node.defaultValue = schema.find("default");
  readKinds(schema, node);
  readAllowed(schema, node);
  readNumbers(schema, node);
  readStrings(schema, node);
  readLists(schema, node);
  readMaps(schema, node);
  readInPlace(schema, node);
  // Schemas that only references use are compiled too, so that their faults are found.
  forEachSubschema(schema, [this](const Value& below) { nodeOf(below); });
}

void SchemaCompiler::readStrings(const Value& schema, SchemaNode& node) {
  StringRules rules;
  bool any = readCount(schema, "minLength", rules.minLength);
  any |= readCount(schema, "maxLength", rules.maxLength);
  if (const Value* pattern = schema.find("pattern")) {
    rules.pattern = patternOf(pattern->text, *pattern);
    any = true;
  }
  if (any) node.strings = std::make_unique<StringRules>(rules);
}

void SchemaCompiler::readLists(const Value& schema, SchemaNode& node) {
  ListRules rules;
  bool any = readCount(schema, "minItems", rules.minItems);
  any |= readCount(schema, "maxItems", rules.maxItems);
  readCount(schema, "minContains", rules.minContains);
  readCount(schema, "maxContains", rules.maxContains);
  const Value* unique = schema.find("uniqueItems");
  rules.uniqueItems = unique != nullptr && unique->text == "true";
  rules.prefixItems = nodesUnder(schema, "prefixItems");
  rules.items = nodeUnder(schema, "items");
  rules.contains = nodeUnder(schema, "contains");
  rules.unevaluated = nodeUnder(schema, "unevaluatedItems");
  any |= rules.uniqueItems || !rules.prefixItems.empty() || rules.items != nullptr || rules.contains != nullptr ||
         rules.unevaluated != nullptr;
  if (any) node.lists = std::make_unique<ListRules>(std::move(rules));
}

void SchemaCompiler::readMaps(const Value& schema, SchemaNode& node) {
  MapRules rules;
  bool any = readCount(schema, "minProperties", rules.minProperties);
  any |= readCount(schema, "maxProperties", rules.maxProperties);
  if (const Value* required = schema.find("required")) rules.required = namesIn(*required);
  if (const Value* dependent = schema.find("dependentRequired")) {
    for (const Member& each : dependent->members) rules.dependentRequired.emplace_back(each.key, namesIn(each.value));
    std::sort(rules.dependentRequired.begin(), rules.dependentRequired.end());
  }
  rules.properties = namedUnder(schema, "properties");
  readPatternProperties(schema, rules);
  rules.additional = nodeUnder(schema, "additionalProperties");
  rules.names = nodeUnder(schema, "propertyNames");
  rules.unevaluated = nodeUnder(schema, "unevaluatedProperties");
  any |= !rules.required.empty() || !rules.dependentRequired.empty() || !rules.properties.empty() ||
         !rules.patternProperties.empty() || rules.additional != nullptr || rules.names != nullptr ||
         rules.unevaluated != nullptr;
  if (!any) return;
  node.maps = std::make_unique<MapRules>(std::move(rules));
  if (const Value* properties = schema.find("properties")) properties_.emplace_back(node.maps.get(), properties);
}

void SchemaCompiler::readPatternProperties(const Value& schema, MapRules& rules) {
  const Value* map = schema.find("patternProperties");
  if (map == nullptr) return;
  for (const Member& each : map->members) {
    rules.patternProperties.emplace_back(patternOf(each.key, each.value), nodeOf(each.value));
  }
}

void SchemaCompiler::readInPlace(const Value& schema, SchemaNode& node) {
  InPlaceRules rules;
  rules.allOf = nodesUnder(schema, "allOf");
  rules.anyOf = nodesUnder(schema, "anyOf");
  rules.oneOf = nodesUnder(schema, "oneOf");
  rules.inverted = nodeUnder(schema, "not");
  rules.condition = nodeUnder(schema, "if");
  rules.then = nodeUnder(schema, "then");
  rules.otherwise = nodeUnder(schema, "else");
  rules.dependent = namedUnder(schema, "dependentSchemas");
  const Value* ref = schema.find("$ref");
  const Value* dynamicRef = schema.find("$dynamicRef");
  const bool any = ref != nullptr || dynamicRef != nullptr || !rules.allOf.empty() || !rules.anyOf.empty() ||
                   !rules.oneOf.empty() || rules.inverted != nullptr || rules.condition != nullptr ||
                   !rules.dependent.empty();
  if (!any) return;
  node.inPlace = std::make_unique<InPlaceRules>(std::move(rules));
  if (ref != nullptr) links_.push_back({node.inPlace.get(), ref, node.resource, false});
  if (dynamicRef != nullptr) links_.push_back({node.inPlace.get(), dynamicRef, node.resource, true});
}

const SchemaPattern* SchemaCompiler::patternOf(const std::string& text, const Value& at) {
  const SchemaPattern* pattern = &schema_.patterns.add(text);
  patterns_.try_emplace(pattern, &at);
  return pattern;
}

void SchemaCompiler::follow(const SchemaLink& link) {
  const ResolvedUri to = resolveUri(registry_.uriOf(link.resource), link.reference->text);
  if (!registry_.knows(to.document) && !add(to.document)) {
    fail({link.reference, "must refer to this document or to the meta-schema of the dialect; nothing is loaded"});
    return;
  }
  const PlacedSchema target = registry_.find(to.document, to.fragment);
  if (target.schema == nullptr) {
    fail({link.reference, "refers to nothing in this document"});
    return;
  }
  if (!registry_.knows(*target.schema)) fail(registry_.addPart(target));
  if (fault_) return;
  (link.isDynamic ? link.from->dynamicRef : link.from->ref) = nodeOf(*target.schema);
  const Value* anchor = target.schema->find("$dynamicAnchor");
  if (link.isDynamic && anchor != nullptr && anchor->text == to.fragment) link.from->dynamicAnchor = anchor->text;
}

bool SchemaCompiler::add(const std::string& uri) {
  const std::string_view text = documents_(uri);
  if (text.empty()) return false;
  auto document = parseJson(text);
  if (!document) return false;
  schema_.others.push_back(std::move(*document));
  const Value& added = schema_.others.back();
  fail(registry_.add(added, uri));
  if (!fault_) nodeOf(added);
  return true;
}

void SchemaCompiler::findCycle() {
  const SchemaNode* node = findInPlaceCycle(schema_.nodes);
  if (node == nullptr) return;
  for (const auto& [value, each] : nodes_) {
    if (each == node) fail({value, "refers to itself without a step into the value"});
  }
}

void SchemaCompiler::compilePatterns() {
  if (schema_.patterns.count() > kMaxSchemaPatterns) {
    fail({&schema_.document, "has more than " + std::to_string(kMaxSchemaPatterns) + " different patterns"});
    return;
  }
  std::string fault;
  if (const SchemaPattern* faulty = schema_.patterns.compile(fault)) fail({patterns_.at(faulty), fault});
}

void SchemaCompiler::finishDynamicAnchors() {
  for (std::uint32_t resource = 0; resource < registry_.resourceCount(); ++resource) {
    NamedSchemas& named = schema_.dynamicAnchors.emplace_back();
    for (const auto& [name, schema] : registry_.dynamicAnchorsOf(resource)) named.emplace_back(name, nodeOf(*schema));
    std::sort(named.begin(), named.end());
  }
}

/// Gives each property the default of its own schema, or else of the schema that it refers to.
void SchemaCompiler::finishDefaults() {
  for (const auto& [rules, properties] : properties_) {
    for (const Member& property : properties->members) {
      const SchemaNode* at = nodeOf(property.value);
      while (at->defaultValue == nullptr && at->inPlace && at->inPlace->ref != nullptr) at = at->inPlace->ref;
      if (at->defaultValue != nullptr) rules->defaults.emplace_back(property.key, at->defaultValue);
    }
  }
}

void SchemaCompiler::fail(const SchemaFault& fault) {
  if (!fault_) fault_ = fault;
}

}  // namespace sluice::content

#include "proxy/content/schema_document.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "proxy/content/json_pointer.h"

namespace sluice::content {
namespace {

enum class Holds : std::uint8_t { kSchema, kList, kMap };

/// A keyword that holds schemas. `inPlace`: they apply to the same value as the schema that has the keyword.
struct Applicator {
  std::string_view keyword;
  Holds holds;
  bool inPlace;
};

constexpr Applicator kApplicators[] = {
    {"$defs", Holds::kMap, false},
    {"properties", Holds::kMap, false},
    {"dependentSchemas", Holds::kMap, true},
    {"allOf", Holds::kList, true},
    {"anyOf", Holds::kList, true},
    {"oneOf", Holds::kList, true},
    {"prefixItems", Holds::kList, false},
    {"not", Holds::kSchema, true},
    {"if", Holds::kSchema, true},
    {"then", Holds::kSchema, true},
    {"else", Holds::kSchema, true},
    {"items", Holds::kSchema, false},
    {"contains", Holds::kSchema, false},
    {"additionalProperties", Holds::kSchema, false},
    {"propertyNames", Holds::kSchema, false},
    {"unevaluatedItems", Holds::kSchema, false},
    {"unevaluatedProperties", Holds::kSchema, false},
};

constexpr std::string_view kUnsupported[] = {"$anchor",     "$dynamicAnchor", "$dynamicRef",
                                             "$vocabulary", "$recursiveRef",  "patternProperties"};

/// Calls visit(schema, step) for each schema right below `schema`; `step` is the path to it.
template <typename Visit>
void forEachBelow(const Value& schema, bool inPlaceOnly, Visit visit) {
  for (const Applicator& applicator : kApplicators) {
    if (inPlaceOnly && !applicator.inPlace) continue;
    const Value* held = schema.find(applicator.keyword);
    if (held == nullptr) continue;
    const std::string step = "/" + std::string(applicator.keyword);
    switch (applicator.holds) {
      case Holds::kSchema:
        visit(*held, step);
        break;
      case Holds::kList:
        for (std::size_t i = 0; i < held->items.size(); ++i) visit(held->items[i], step + "/" + std::to_string(i));
        break;
      case Holds::kMap:
        for (const Member& member : held->members) visit(member.value, step + "/" + pointerToken(member.key));
        break;
    }
  }
}

/// Walks all schemas of a document, and remembers the first fault.
class Check {
 public:
  explicit Check(const Value& root) : root_(root) {}

  base::Status run() {
    if (!bounded(root_, 0)) return base::Error::config(fault_);
    visit(root_, "");
    if (!fault_.empty()) return base::Error::config(fault_);
    return base::Done{};
  }

 private:
  bool bounded(const Value& value, std::size_t depth) {
    if (depth > kMaxSchemaDepth) return fail("", "is nested deeper than " + std::to_string(kMaxSchemaDepth));
    if (++nodes_ > kMaxSchemaNodes) return fail("", "has more than " + std::to_string(kMaxSchemaNodes) + " values");
    const auto below = [&](const Value& each) { return bounded(each, depth + 1); };
    return std::all_of(value.items.begin(), value.items.end(), below) &&
           std::all_of(value.members.begin(), value.members.end(),
                       [&](const Member& member) { return below(member.value); });
  }

  void visit(const Value& schema, const std::string& pointer) {
    if (!fault_.empty() || !schema.isMap()) return;
    checkKeywords(schema, pointer);
    if (fault_.empty()) countInPlace(schema, pointer);
    forEachBelow(schema, false, [&](const Value& below, const std::string& step) { visit(below, pointer + step); });
  }

  void checkKeywords(const Value& schema, const std::string& pointer) {
    for (const std::string_view keyword : kUnsupported) {
      if (schema.find(keyword) != nullptr) fail(pointer + "/" + std::string(keyword), "is not supported");
    }
    const Value* dialect = schema.find("$schema");
    if (dialect != nullptr && (!dialect->isString() || dialect->text != kSchemaDialect)) {
      fail(pointer + "/$schema", "must be " + std::string(kSchemaDialect));
    }
    for (const char* keyword : {"$schema", "$id"}) {
      if (!pointer.empty() && schema.find(keyword) != nullptr) {
        fail(pointer + "/" + keyword, "is supported at the top only");
      }
    }
    const Value* ref = schema.find("$ref");
    if (ref == nullptr) return;
    if (!ref->isString() || !ref->text.starts_with('#')) {
      fail(pointer + "/$ref", "must refer to this document (\"#/...\")");
    } else if (referredSchema(root_, ref->text) == nullptr) {
      fail(pointer + "/$ref", "refers to nothing in this document");
    }
  }

  /// Returns how many schemas a value is checked against when it is checked against this one.
  std::size_t countInPlace(const Value& schema, const std::string& pointer) {
    if (!schema.isMap() || !fault_.empty()) return 1;
    const auto [known, isNew] = counts_.try_emplace(&schema, std::nullopt);
    if (!isNew) {
      if (!known->second) fail(pointer, "refers to itself without a step into the value");
      return known->second.value_or(1);
    }
    std::size_t count = 1;
    const auto add = [&](const Value& below) { count += countInPlace(below, pointer); };
    const Value* ref = schema.find("$ref");
    const Value* referred = ref != nullptr && ref->isString() ? referredSchema(root_, ref->text) : nullptr;
    if (referred != nullptr) add(*referred);
    forEachBelow(schema, true, [&](const Value& below, const std::string&) { add(below); });
    if (count > kMaxSchemaFanOut) {
      fail(pointer, "holds one value against more than " + std::to_string(kMaxSchemaFanOut) + " schemas");
    }
    counts_[&schema] = count;
    return count;
  }

  bool fail(const std::string& pointer, const std::string& message) {
    if (fault_.empty()) fault_ = (pointer.empty() ? std::string("the schema") : pointer) + ": " + message;
    return false;
  }

  const Value& root_;
  std::size_t nodes_ = 0;
  std::unordered_map<const Value*, std::optional<std::size_t>> counts_;  // no count: the schema is being counted
  std::string fault_;
};

/// Decodes the text of a URI fragment (RFC 3986 section 2.1); nullopt if it is malformed.
std::optional<std::string> percentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    unsigned char byte = 0;
    if (at + 2 >= text.size()) return std::nullopt;
    const char* end = text.data() + at + 3;
    if (std::from_chars(text.data() + at + 1, end, byte, 16).ptr != end) return std::nullopt;
    decoded += static_cast<char>(byte);
    at += 2;
  }
  return decoded;
}

}  // namespace

base::Status checkSchemaDocument(const Value& root) {
  const bool isSchema = root.isMap() || root.kind == Value::Kind::kBool;
  if (!isSchema) return base::Error::config("the schema: must be a map or a boolean");
  return Check(root).run();
}

const Value* referredSchema(const Value& root, std::string_view ref) {
  if (!ref.starts_with('#')) return nullptr;
  const std::optional<std::string> text = percentDecoded(ref.substr(1));
  if (!text) return nullptr;
  const auto pointer = JsonPointer::parse(*text);
  return pointer ? pointer->find(root) : nullptr;
}

}  // namespace sluice::content

#include "proxy/content/json_schema.h"

#include <re2/re2.h>

#include <jsoncons/json.hpp>
#include <jsoncons_ext/jsonschema/json_schema.hpp>
#include <jsoncons_ext/jsonschema/json_schema_factory.hpp>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/content/schema_defaults.h"
#include "proxy/content/schema_document.h"

namespace sluice::content {
namespace {

/// Ends a validation: a value too long for a `pattern` must be refused wherever the pattern stands, inside a `not`
/// too.
struct TooLongForPattern {
  std::string pointer;
};

}  // namespace
}  // namespace sluice::content

// jsoncons evaluates `pattern` by a library whose time and stack grow with the value. RE2 evaluates it instead, in
// linear time and with bounded memory.
namespace jsoncons::jsonschema {

template <>
class pattern_validator<json> final : public keyword_validator<json> {
 public:
  pattern_validator(const json& schema, const uri& location, const std::string& message,
                    std::unique_ptr<const re2::RE2> pattern)
      : keyword_validator<json>("pattern", schema, location, message), pattern_(std::move(pattern)) {}

 private:
  using Walk = json_schema_traits<json>::walk_reporter_type;

  walk_result do_validate(const eval_context<json>& context, const json& instance,
                          const jsonpointer::json_pointer& location, evaluation_results&, error_reporter& reporter,
                          json&) const override {
    if (!instance.is_string()) return walk_result::advance;
    const auto text = instance.as_string_view();
    if (text.size() > sluice::content::JsonSchema::kMaxPatternedBytes) {
      throw sluice::content::TooLongForPattern{location.string()};
    }
    if (re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *pattern_)) return walk_result::advance;
    const eval_context<json> here(context, keyword_name());
    return reporter.error(
        make_validation_message(here.eval_path(), location, "does not match the pattern " + pattern_->pattern()));
  }

  walk_result do_walk(const eval_context<json>&, const json& instance, const jsonpointer::json_pointer& location,
                      const Walk& reporter) const override {
    return reporter(keyword_name(), schema(), schema_location(), instance, location);
  }

  const std::unique_ptr<const re2::RE2> pattern_;
};

template <>
inline std::unique_ptr<pattern_validator<json>> keyword_validator_factory<json>::make_pattern_validator(
    const compilation_context<json>& context, const json& pattern, const json& parent) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto compiled = std::make_unique<const re2::RE2>(pattern.as<std::string>(), options);
  if (!compiled->ok()) throw schema_error("pattern: not a regular expression of RE2: " + compiled->error());
  return std::make_unique<pattern_validator<json>>(parent, context.make_schema_location("pattern"),
                                                   context.get_custom_message("pattern"), std::move(compiled));
}

// A schema of another dialect is refused before it gets here (schema_document.h), so the validators of the older
// dialects are never built. Instantiating them would make compiling this file cost twice as much.
template <>
inline std::unique_ptr<schema_validator_factory_base<json>> validator_factory_factory<json>::get_default_schema_factory(
    json&& schema, const evaluation_options& options, schema_store_type* store,
    const std::vector<resolve_uri_type<json>>& resolvers,
    const std::unordered_map<std::string, bool>& vocabulary) const {
  return std::make_unique<draft202012::schema_validator_factory_202012<json>>(std::move(schema), *this, options, store,
                                                                              resolvers, vocabulary);
}

template <>
inline std::unique_ptr<schema_validator_factory_base<json>> validator_factory_factory<json>::get_factory(
    json&& schema, const string_view& dialect, const evaluation_options& options, schema_store_type* store,
    const std::vector<resolve_uri_type<json>>& resolvers,
    const std::unordered_map<std::string, bool>& vocabulary) const {
  if (dialect != schema_version::draft202012()) return nullptr;
  return get_default_schema_factory(std::move(schema), options, store, resolvers, vocabulary);
}

template <>
inline json meta_resolver<json>(const uri& location) {
  const bool known = location.base() == uri{schema_version::draft202012()};
  return known ? draft202012::schema_draft202012<json>::get_schema() : json::null();
}

}  // namespace jsoncons::jsonschema

namespace sluice::content {
namespace {

using jsoncons::json;
using Schema = jsoncons::jsonschema::json_schema<json>;
using Violations = std::vector<JsonSchema::Violation>;

constexpr std::size_t kMaxMessageBytes = 300;

json toJson(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return json::null();
    case Value::Kind::kBool:
      return json(value.text == "true");
    case Value::Kind::kNumber:
      return json::parse(jsonNumber(value.text));
    case Value::Kind::kString:
      return json(value.text);
    case Value::Kind::kList: {
      json list(jsoncons::json_array_arg);
      for (const Value& item : value.items) list.push_back(toJson(item));
      return list;
    }
    case Value::Kind::kMap: {
      json map(jsoncons::json_object_arg);
      for (const Member& member : value.members) map.insert_or_assign(member.key, toJson(member.value));
      return map;
    }
  }
  return json::null();
}

/// Returns one line of bounded length, because messages quote values.
std::string tidied(std::string message) {
  if (message.size() > kMaxMessageBytes) {
    std::size_t end = kMaxMessageBytes;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80)
      --end;  // do not cut inside a UTF-8 sequence
    message.resize(end);
    message += "...";
  }
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  if (message.ends_with('.') && !message.ends_with("...")) message.pop_back();
  return message;
}

/// Collects the details of a message. The details below a summary ("all schemas must match") replace it, unless only
/// one of several schemas had to match.
void collect(const jsoncons::jsonschema::validation_message& message, Violations& violations) {
  const std::string& keyword = message.keyword();
  const bool choice = keyword == "anyOf" || keyword == "oneOf" || keyword == "contains";
  if (choice || message.details().empty()) {
    violations.push_back({message.instance_location().string(), tidied(message.message())});
    return;
  }
  for (const auto& detail : message.details()) collect(detail, violations);
}

Violations violationsOf(const Schema& schema, const json& value) {
  using jsoncons::jsonschema::walk_result;
  Violations violations;
  const auto note = [&](const jsoncons::jsonschema::validation_message& message) {
    collect(message, violations);
    return violations.size() < JsonSchema::kMaxViolations ? walk_result::advance : walk_result::abort;
  };
  try {
    json patch;
    schema.validate(value, note, patch);
  } catch (const TooLongForPattern& refused) {
    violations.push_back({refused.pointer, "is longer than " + std::to_string(JsonSchema::kMaxPatternedBytes) +
                                               " bytes, which no pattern is tried on"});
  }
  if (violations.size() > JsonSchema::kMaxViolations) violations.resize(JsonSchema::kMaxViolations);
  return violations;
}

/// Returns the schema of the dialect itself, which tells whether a document is a valid schema.
const Schema& metaSchema() {
  static const Schema kSchema =
      jsoncons::jsonschema::make_json_schema(jsoncons::jsonschema::draft202012::schema_draft202012<json>::get_schema());
  return kSchema;
}

}  // namespace

struct JsonSchema::Compiled {
  Value document;
  Schema schema;
};

base::Result<JsonSchema> JsonSchema::compile(std::string_view text) {
  auto parsed = parseJson(text, {kMaxTextBytes, kMaxSchemaDepth});
  if (!parsed) return std::move(parsed).error();
  return compile(*parsed);
}

base::Result<JsonSchema> JsonSchema::compile(const Value& schema) {
  if (const base::Status checked = checkSchemaDocument(schema); !checked) return checked.error();
  try {
    json document = toJson(schema);
    const Violations violations = violationsOf(metaSchema(), document);
    if (!violations.empty()) return base::Error::config("is no JSON Schema: " + describe(violations));
    return JsonSchema(std::make_shared<const Compiled>(
        Compiled{schema, jsoncons::jsonschema::make_json_schema(std::move(document))}));
  } catch (const std::exception& error) {
    return base::Error::config("is no JSON Schema: " + tidied(error.what()));
  }
}

std::vector<JsonSchema::Violation> JsonSchema::apply(Value& value) const {
  fillDefaults(compiled_->document, value);
  try {
    return violationsOf(compiled_->schema, toJson(value));
  } catch (const std::exception& error) {
    return {{"", "cannot be checked: " + tidied(error.what())}};
  }
}

std::string describe(const std::vector<JsonSchema::Violation>& violations) {
  std::string text;
  for (const JsonSchema::Violation& violation : violations) {
    if (!text.empty()) text += "; ";
    text += violation.pointer.empty() ? violation.message : violation.pointer + ": " + violation.message;
  }
  return text;
}

}  // namespace sluice::content

// Makes uses of payload processors as YAML, and counts their traces in texts. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

/// Returns a use of a built-in type, "CredentialInjector" or "HeaderModifier" for short; `config` holds the members of
/// its config, `more` further members of the use: ", failOpen: true".
std::string use(const std::string& kind, const std::string& name, const std::string& phase, const std::string& config,
                const std::string& more = {});
/// Returns a HeaderModifier that adds one value to a field.
std::string adding(const std::string& name, const std::string& phase, const std::string& field,
                   const std::string& value, int priority = 0);
/// Returns a filter of a rule that holds these uses.
std::string inlined(const std::string& uses);
/// Returns a Secret as a document of its own, with these `members` of its stringData.
std::string secretOf(const std::string& name, const std::string& members, const std::string& nameSpace = "test");

/// Returns `text` as the value of a key, a block of lines; each line begins with `indent`.
std::string blockOf(const std::string& key, const std::string& text, const std::string& indent);
/// Returns a ConfigMap as a document of its own, with these keys and their texts, each as a block of lines.
std::string configMapOf(const std::string& name, const std::vector<std::pair<std::string, std::string>>& data,
                        const std::string& nameSpace = "test");
/// Returns the lines of a catalog's entry for a type. Unless its engine is "builtin", the key schema.json of the
/// ConfigMap `schemas` has the schema of the type. `settings` are further lines, such as those of the engine.
std::string entryOf(const std::string& type, const std::string& engine, const std::string& phases,
                    const std::string& settings, const std::string& schemas = "schema");

/// Counts how often a text holds a part, ignoring case.
std::size_t countOf(std::string_view text, std::string_view part);

}  // namespace sluice::test

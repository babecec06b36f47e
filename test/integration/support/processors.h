// Makes uses of payload processors as YAML, and counts their traces in texts. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

/// Counts how often a text holds a part, ignoring case.
std::size_t countOf(std::string_view text, std::string_view part);

}  // namespace sluice::test

// Uses of payload processors as YAML, and what tests of them look for. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::test {

/// A use of a built-in type, "CredentialInjector" or "HeaderModifier" for short; `config` is its members, `more` those
/// of the use: ", failOpen: true".
std::string use(const std::string& kind, const std::string& name, const std::string& phase, const std::string& config,
                const std::string& more = {});
/// A HeaderModifier that adds one value to a field.
std::string adding(const std::string& name, const std::string& phase, const std::string& field,
                   const std::string& value, int priority = 0);
/// A filter of a rule that holds such uses.
std::string inlined(const std::string& uses);
/// A Secret as a document of its own; `members` of its stringData.
std::string secretOf(const std::string& name, const std::string& members, const std::string& nameSpace = "test");

/// How often a text holds a part, whatever the case of either.
std::size_t countOf(std::string_view text, std::string_view part);

}  // namespace sluice::test

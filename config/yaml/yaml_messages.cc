#include "config/yaml/yaml_messages.h"

#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <iterator>

namespace sluice::config {
namespace {

struct YamlExplanation {
  std::string_view library;
  std::string_view text;
};

const YamlExplanation kExplanations[] = {
    {YAML::ErrorMsg::END_OF_MAP,
     "this line does not continue the map that it stands in: its indentation differs, or a tab begins it"},
    {YAML::ErrorMsg::END_OF_MAP_FLOW, "a map that begins with { has no }, or lacks a comma between its fields"},
    {YAML::ErrorMsg::END_OF_SEQ,
     "this line does not continue the list that it stands in: its indentation differs, or \"- \" is missing"},
    {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a list that begins with [ has no ], or lacks a comma between its items"},
    {YAML::ErrorMsg::MAP_VALUE,
     "a field cannot begin here: put a value that contains \": \" in quotes, or look whether the line before lacks a "
     "\":\", or a space after it"},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR, "a value that begins with * must be in quotes"},
    {YAML::ErrorMsg::CHAR_IN_ALIAS, "a value that begins with * must be in quotes"},
    {YAML::ErrorMsg::ALIAS_NOT_FOUND, "a value that begins with * must be in quotes"},
    {YAML::ErrorMsg::MAP_KEY, "a key cannot stand here"},
    {YAML::ErrorMsg::BLOCK_ENTRY, "an item of a list (\"- \") cannot stand here: look at its indentation"},
    {YAML::ErrorMsg::FLOW_END, "there is a } or ] without its { or ["},
    {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab cannot indent a line: use spaces"},
    {YAML::ErrorMsg::UNKNOWN_TOKEN, "a value cannot begin with this character: put it in quotes"},
    {YAML::ErrorMsg::EOF_IN_SCALAR, "a text in quotes has no closing quote"},
    {YAML::ErrorMsg::DOC_IN_SCALAR, "a text in quotes has no closing quote before the next document"},
    {YAML::ErrorMsg::CHAR_IN_BLOCK, "only a comment or an indicator can follow the | or > that begins a block of text"},
};

}  // namespace

std::string explainYamlError(std::string_view libraryMessage) {
  const auto* found = std::find_if(std::begin(kExplanations), std::end(kExplanations),
                                   [&](const YamlExplanation& each) { return each.library == libraryMessage; });
  return std::string(found == std::end(kExplanations) ? libraryMessage : found->text);
}

}  // namespace sluice::config

#include "test/integration/support/kubernetes/older_crds.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

std::size_t indentOf(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool isAmong(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the index after the lines that belong to the one at `at`. A list may have the indentation of its key.
std::size_t endOf(const std::vector<std::string>& lines, std::size_t at) {
  const bool isItem = lines[at].compare(indentOf(lines[at]), 2, "- ") == 0;
  std::size_t end = at + 1;
  while (end < lines.size()) {
    const std::size_t indent = indentOf(lines[end]);
    const bool isBlank = indent == lines[end].size();
    const bool isListOfKey = !isItem && indent == indentOf(lines[at]) && lines[end].compare(indent, 2, "- ") == 0;
    if (!isBlank && indent <= indentOf(lines[at]) && !isListOfKey) break;
    ++end;
  }
  return end;
}

std::string textOfLines(const std::vector<std::string>& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += lines[i] + "\n";
  return text;
}

/// Returns true if the lines are a rule about one of the fields or values.
bool isRuleAbout(const std::string& rule, const LackingParts& parts) {
  if (rule.find(" rule: ") == std::string::npos) return false;
  const auto has = [&rule](const std::string& text) { return rule.find(text) != std::string::npos; };
  return std::any_of(parts.fields.begin(), parts.fields.end(), [&](const auto& each) { return has("self." + each); }) ||
         std::any_of(parts.values.begin(), parts.values.end(), [&](const auto& each) { return has("'" + each + "'"); });
}

std::string withoutParts(const std::string& text, const LackingParts& parts) {
  const std::vector<std::string> lines = linesOf(text);
  std::string kept;
  for (std::size_t i = 0; i < lines.size();) {
    const std::string word = lines[i].substr(indentOf(lines[i]));
    const std::size_t end = endOf(lines, i);
    const bool isField = word.ends_with(":") && isAmong(parts.fields, word.substr(0, word.size() - 1));
    const bool isValue = word.starts_with("- ") && isAmong(parts.values, word.substr(2));
    const bool isRule = word.starts_with("- message:") && isRuleAbout(textOfLines(lines, i, end), parts);
    if (isField || isValue || isRule) {
      i = end;
    } else {
      kept += lines[i++] + "\n";
    }
  }
  return kept;
}

void replaceIn(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

}  // namespace

LackingParts lackingInStandard16() {
  return {.fields = {"retry", "sessionPersistence", "externalAuth", "useDefaultGateways", "defaultScope"},
          .values = {"ExternalAuth"},
          .plurals = {}};
}

LackingParts lackingInStandard15() {
  LackingParts parts = lackingInStandard16();
  parts.fields.emplace_back("cors");
  parts.values.emplace_back("CORS");
  return parts;
}

std::string gatewayApiCrdsWithout(const LackingParts& parts, const std::string& version, const std::string& channel) {
  std::string all;
  const std::string group = "gateway.networking.k8s.io_";
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/test/support/kube/crds")) {
    const std::string name = entry.path().filename().string();
    const bool isMissing = std::any_of(parts.plurals.begin(), parts.plurals.end(),
                                       [&](const std::string& each) { return name == group + each + ".yaml"; });
    if (!name.starts_with(group) || isMissing) continue;
    std::string crd = withoutParts(readFile(entry.path().string()), parts);
    replaceIn(crd, "bundle-version: v1.6.1", "bundle-version: " + version);
    replaceIn(crd, "channel: experimental", "channel: " + channel);
    all += "---\n" + crd;
  }
  return all;
}

}  // namespace sluice::test

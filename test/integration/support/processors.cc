#include "test/integration/support/processors.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace sluice::test {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::string use(const std::string& kind, const std::string& name, const std::string& phase, const std::string& config,
                const std::string& more) {
  const std::string domain = kind == "HeaderModifier" ? "sluice.dev/" : "gateway.networking.k8s.io/";
  return "{name: " + name + ", type: '" + domain + kind + ":v1', phase: " + phase + ", config: {" + config + "}" +
         more + "}";
}

std::string adding(const std::string& name, const std::string& phase, const std::string& field,
                   const std::string& value, int priority) {
  return use("HeaderModifier", name, phase, "add: [{name: " + field + ", value: " + value + "}]",
             ", priority: " + std::to_string(priority));
}

std::string inlined(const std::string& uses) { return "{type: PayloadProcessing, payloadProcessing: [" + uses + "]}"; }

std::string secretOf(const std::string& name, const std::string& members, const std::string& nameSpace) {
  return "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: " + nameSpace + ", name: " + name +
         "}\nstringData: {" + members + "}\n";
}

std::string blockOf(const std::string& key, const std::string& text, const std::string& indent) {
  std::string block = indent + key + ": |\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) block += indent + "  " + line + "\n";
  return block;
}

std::string configMapOf(const std::string& name, const std::vector<std::pair<std::string, std::string>>& data,
                        const std::string& nameSpace) {
  std::string text =
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: " + nameSpace + ", name: " + name + "}\ndata:\n";
  for (const auto& [key, value] : data) text += blockOf(key, value, "  ");
  return text;
}

std::string entryOf(const std::string& type, const std::string& engine, const std::string& phases,
                    const std::string& settings, const std::string& schemas) {
  return "type: " + type + "\nengine: " + engine + "\nphases: [" + phases + "]\n" +
         (engine == "builtin" ? "" : "schemaRef: {name: " + schemas + "}\n") + settings;
}

std::size_t countOf(std::string_view text, std::string_view part) {
  const std::string all = lower(text);
  const std::string one = lower(part);
  std::size_t count = 0;
  for (std::size_t at = all.find(one); at != std::string::npos; at = all.find(one, at + one.size())) ++count;
  return count;
}

}  // namespace sluice::test

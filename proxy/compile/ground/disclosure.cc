#include "proxy/compile/ground/disclosure.h"

namespace sluice::compile {

std::string withArticle(std::string_view kind) {
  // The article follows the pronunciation: "an HTTPRoute", "an XBackend".
  const bool vowel = kind.starts_with('E') || kind.starts_with('H') || kind.starts_with('X');
  return (vowel ? "an " : "a ") + std::string(kind);
}

std::string nameFor(std::string_view reader, std::string_view kind, std::string_view nameSpace, std::string_view name) {
  if (nameSpace != reader) return withArticle(kind) + " of another namespace";
  return std::string(kind).append(" ").append(nameSpace).append("/").append(name);
}

Fault toldTo(std::string_view reader, std::string_view owner, const Fault& fault) {
  if (reader == owner) return fault;
  return summary(fault.reason, "it is not served (" + fault.reason + "); its own conditions say why");
}

Fault toldBriefly(std::string_view reader, std::string_view owner, const Fault& fault) {
  if (reader == owner) return fault;
  return summary(fault.reason, "it cannot be used (" + fault.reason + ")");
}

}  // namespace sluice::compile

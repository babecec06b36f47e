#include "proxy/compile/routes/match_identity.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/base/text.h"
#include "proxy/pki/digest.h"

namespace sluice::compile {
namespace {

void append(std::string& text, std::string_view part) {
  text.append(std::to_string(part.size())).append(":").append(part);
}

void appendFields(std::string& text, std::vector<routing::FieldMatch> fields, bool ignoreCase) {
  for (routing::FieldMatch& field : fields) {
    if (ignoreCase) field.name = base::toLower(field.name);
  }
  std::sort(fields.begin(), fields.end(), [](const routing::FieldMatch& a, const routing::FieldMatch& b) {
    return std::tie(a.name, a.value, a.isExpression) < std::tie(b.name, b.value, b.isExpression);
  });
  for (const routing::FieldMatch& field : fields) {
    text += field.isExpression ? '~' : '=';
    append(text, field.name);
    append(text, field.value);
  }
  text += ';';
}

}  // namespace

std::string matchIdentity(const routing::MatchSpec& spec) {
  std::string text;
  if (spec.rpc) {
    text += spec.rpc->isExpression ? '~' : '=';
    append(text, spec.rpc->service);
    append(text, spec.rpc->method);
  } else {
    std::string_view path = spec.path;
    if (spec.pathKind == routing::PathKind::kPrefix && path.ends_with('/')) path.remove_suffix(1);
    text += std::to_string(static_cast<int>(spec.pathKind));
    append(text, path);
  }
  append(text, spec.method);
  appendFields(text, spec.headers, true);
  appendFields(text, spec.query, false);
  const pki::Sha256Digest digest = pki::sha256(text);
  return {digest.begin(), digest.end()};
}

}  // namespace sluice::compile

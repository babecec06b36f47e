#include "proxy/compile/routes/compile_cors.h"

#include <algorithm>

#include "proxy/base/text.h"
#include "proxy/compile/routes/compile_headers.h"

namespace sluice::compile {
namespace {

bool isAll(const std::vector<std::string>& list) { return std::find(list.begin(), list.end(), "*") != list.end(); }

std::string joinWithCommas(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : ", ") + each;
  return text;
}

std::optional<routing::OriginPattern> patternOf(const std::string& text) {
  routing::Origin origin;
  if (!origin.read(text)) return std::nullopt;
  const bool wildcard = origin.host.starts_with('*');
  return routing::OriginPattern{origin.https, origin.port, base::toLower(origin.host.substr(wildcard ? 1 : 0)),
                                wildcard};
}

}  // namespace

Resolved<std::shared_ptr<const routing::Cors>> compileCors(const base::Box<config::CorsFilter>& cors) {
  if (!cors) return std::shared_ptr<const routing::Cors>();
  routing::Cors result;
  result.anyOrigin = isAll(cors->allowOrigins);
  for (const std::string& text : cors->allowOrigins) {
    if (text == "*") continue;
    std::optional<routing::OriginPattern> pattern = patternOf(text);
    if (!pattern) {
      return fault(config::reason::kUnsupportedValue, cors->path + ".allowOrigins",
                   text + " has a port that is not in 1..65535");
    }
    result.origins.push_back(*std::move(pattern));
  }
  result.credentials = cors->allowCredentials;
  result.anyMethod = isAll(cors->allowMethods);
  result.allowMethods = joinWithCommas(cors->allowMethods);
  result.anyHeader = isAll(cors->allowHeaders);
  result.allowHeaders = joinWithCommas(cors->allowHeaders);
  result.exposeAll = isAll(cors->exposeHeaders);
  result.exposeHeaders = result.exposeAll ? "*" : joinWithCommas(cors->exposeHeaders);
  result.maxAge = std::to_string(cors->maxAge);
  return std::shared_ptr<const routing::Cors>(std::make_shared<routing::Cors>(std::move(result)));
}

}  // namespace sluice::compile

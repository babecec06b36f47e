#include "config/read/routes/route_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxRpcBytes = 1024;

void readRpc(FieldReader& reader, RpcMatch& match) {
  reader.read("type", match.type, kValueMatchTypes);
  match.service = reader.anyText("service", kMaxRpcBytes);
  match.method = reader.anyText("method", kMaxRpcBytes);
  const bool exact = match.type == ValueMatchType::kExact;
  if (exact && !match.service.empty() && !isRpcService(match.service)) {
    reader.error("service", "must be a name like package.Service, but is " + base::quote(match.service));
  }
  if (exact && !match.method.empty() && !isRpcMethod(match.method)) {
    reader.error("method", "must be a name of letters, digits and \"_\", but is " + base::quote(match.method));
  }
}

std::optional<GrpcRouteMatch> readGrpcMatch(FieldReader reader) {
  GrpcRouteMatch match;
  if (reader.has("method")) {
    reader.read("method", match.rpc, readRpc);
    const bool empty = match.rpc.service.empty() && match.rpc.method.empty();
    if (empty && reader.isLegible()) reader.error("method", "must have service or method");
  }
  const bool selects = reader.has("method") && reader.isLegible();
  readHeaderMatches(reader, match.headers);
  reader.finish();
  match.widened = !reader.isLegible();
  if (match.widened && !selects) return std::nullopt;
  return match;
}

void readGrpcRule(FieldReader& reader, GrpcRouteRule& rule) {
  readMatches(reader, readGrpcMatch, rule);
  readRuleParts(reader, FilterSet::kGrpc, rule);
  finishRule(reader, rule);
}

}  // namespace

bool readGrpcRoute(FieldReader& spec, GrpcRoute& route) { return readRoute(spec, readGrpcRule, route); }

}  // namespace sluice::config

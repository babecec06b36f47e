#include "config/read/routes/route_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxRpcBytes = 1024;

RpcMatch readRpc(FieldReader reader) {
  RpcMatch match;
  match.path = reader.path();
  match.position = reader.position();
  match.type = reader.choice("type", kValueMatchTypes, ValueMatchType::kExact);
  match.service = reader.anyText("service", kMaxRpcBytes);
  match.method = reader.anyText("method", kMaxRpcBytes);
  const bool exact = match.type == ValueMatchType::kExact;
  if (exact && !match.service.empty() && !isRpcService(match.service)) {
    reader.error("service", "must be a name like package.Service, but is " + base::quote(match.service));
  }
  if (exact && !match.method.empty() && !isRpcMethod(match.method)) {
    reader.error("method", "must be a name of letters, digits and \"_\", but is " + base::quote(match.method));
  }
  reader.finish();
  return match;
}

std::optional<GrpcRouteMatch> readGrpcMatch(FieldReader reader) {
  const std::size_t errors = reader.context().errors();
  GrpcRouteMatch match;
  if (reader.has("method")) {
    match.rpc = readRpc(reader.map("method"));
    const bool empty = match.rpc.service.empty() && match.rpc.method.empty();
    if (empty && reader.context().errors() == errors) reader.error("method", "must have service or method");
  }
  const bool selects = reader.has("method") && reader.context().errors() == errors;
  match.headers = readHeaderMatches(reader);
  reader.finish();
  match.widened = reader.context().errors() != errors;
  if (match.widened && !selects) return std::nullopt;
  return match;
}

GrpcRouteRule readGrpcRule(FieldReader reader) {
  GrpcRouteRule rule;
  readMatches(reader, readGrpcMatch, rule);
  readRuleParts(reader, FilterSet::kGrpc, rule);
  finishRule(reader, rule);
  return rule;
}

}  // namespace

std::optional<GrpcRoute> readGrpcRoute(FieldReader& root, ObjectMeta meta) {
  return readRoute<GrpcRoute>(root, std::move(meta), readGrpcRule);
}

}  // namespace sluice::config

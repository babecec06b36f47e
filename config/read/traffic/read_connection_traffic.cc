// Reads what a policy says of connections to Backends, and of the time that requests may take, in the spelling that
// TrafficPolicy and BackendTrafficPolicy as Envoy Gateway ships it share.
#include <optional>
#include <string>
#include <string_view>

#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {

std::optional<base::Duration> readSomeTime(FieldReader& reader, std::string_view key,
                                           std::vector<UnsupportedField>& unsupported) {
  const auto time = reader.duration(key);
  if (time == base::Duration::zero()) reader.unsupported(key, "0s is not supported", true, unsupported);
  return time;
}

TrafficTimeouts readTrafficTimeouts(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  TrafficTimeouts timeouts;
  FieldReader tcp = reader.map("tcp");
  timeouts.connect = readSomeTime(tcp, "connectTimeout", unsupported);
  tcp.finish();
  FieldReader http = reader.map("http");
  timeouts.connectionIdle = readSomeTime(http, "connectionIdleTimeout", unsupported);
  timeouts.connectionLifetime = http.duration("maxConnectionDuration");
  timeouts.request = http.duration("requestTimeout");
  timeouts.streamIdle = readSomeTime(http, "streamIdleTimeout", unsupported);
  timeouts.streamLifetime = http.duration("maxStreamDuration");
  http.finish();
  reader.finish();
  return timeouts;
}

void refuseRequestTimeouts(FieldReader& spec, const BackendTraffic& traffic) {
  if (!traffic.timeouts || !traffic.timeouts->ofRequests()) return;
  spec.context().error(spec.positionOf("timeout"), spec.pathOf("timeout") + ".http",
                       "must not have requestTimeout, streamIdleTimeout or maxStreamDuration for a Backend or a "
                       "Service, because they begin before a request has one");
}

}  // namespace sluice::config

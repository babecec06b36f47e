#include "proxy/server/serving/http_limits.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "proxy/exchange/transaction/client_memory.h"

namespace sluice::server {

http::Limits httpLimits(const base::Settings& settings) {
  const base::LimitSettings& limits = settings.limits;
  const auto narrow = [](std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int32_t>::max()));
  };
  http::Limits made;
  made.requestLineBytes = narrow(limits.requestLineBytes);
  made.headerBytes = narrow(limits.headerBytes);
  made.headerFields = narrow(limits.headerFields);
  made.responseFields = narrow(limits.responseFields);
  made.informationalResponses = narrow(limits.informationalResponses);
  made.chunkExtensionBytes = narrow(limits.chunkExtensionBytes);
  made.concurrentStreams = narrow(limits.concurrentStreams);
  const exchange::BodyWindow window = exchange::bodyWindowOf(limits);
  made.streamWindow = narrow(window.whole);
  made.firstWindow = narrow(window.first);
  const auto kept = std::chrono::duration_cast<std::chrono::seconds>(settings.timeouts.clientIdle);
  made.keepAliveSeconds = narrow(static_cast<std::uint64_t>(kept.count()));
  made.connectionWindow = narrow(limits.connectionWindow);
  made.drainBytes = narrow(limits.drainBytes);
  made.resetsPerMinute = narrow(limits.resetsPerMinute);
  made.emptyFrames = narrow(limits.emptyFrames);
  made.queuedControlFrames = narrow(limits.queuedControlFrames);
  made.controlFramesPerMinute = narrow(limits.controlFramesPerMinute);
  return made;
}

upstream::UpstreamPolicy policyOf(const routing::Snapshot& snapshot) {
  const base::Settings& settings = snapshot.settings;
  return {snapshot.addressGuard, httpLimits(settings), settings.timeouts, settings.limits.backendPending,
          settings.limits.dynamicClusters};
}

}  // namespace sluice::server

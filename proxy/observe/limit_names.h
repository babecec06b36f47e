// The limits and timeouts of settings.yaml that can be hit: the values of sluice_limit_hits_total's label, which all
// begin at zero, so that the first hit is seen as an increase.
#pragma once

#include <array>
#include <string_view>

namespace sluice::observe {

inline constexpr auto kLimitNames = std::to_array<std::string_view>({
    // limits
    "backendConnections",
    "backendPending",
    "backendRequests",
    "chunkExtensionBytes",
    "concurrentStreams",
    "connectionMemory",
    "connectionMemoryTotal",
    "connections",
    "connectionsPerAddress",
    "controlFramesPerMinute",
    "decompressedBody",
    "decompressionRatio",
    "dynamicClusters",
    "emptyFrames",
    "exchangeBuffer",
    "handshakesPerAddress",
    "headerBytes",
    "headerFields",
    "headerMemory",
    "headerMemoryTotal",
    "informationalResponses",
    "passwordChecks",
    "processorBuffer",
    "processorBufferTotal",
    "queuedControlFrames",
    "replayBuffer",
    "requestLineBytes",
    "resetsPerMinute",
    "tunnels",
    "tunnelsPerAddress",
    // timeouts
    "bodyIdle",
    "clientIdle",
    "connect",
    "request",
    "requestHeader",
    "responseIdle",
    "streamIdle",
    "tlsHandshake",
    "tunnel",
    "tunnelIdle",
    "tunnelSniff",
    "upstreamIdle",
    "upstreamPing",
    // of rules and policies, and of the admin port
    "adminAnswer",
    "adminConnections",
    "attemptIdle",
    "backendRequest",
    "maxConnections",
    "maxParallelRequests",
    "maxPendingRequests",
    "retryBudget",
});

}  // namespace sluice::observe

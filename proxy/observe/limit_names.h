// The limits and timeouts that can be hit, by their keys in settings.yaml, a policy or a rule: the values of
// sluice_limit_hits_total's label, which all begin at zero, so that the first hit is seen as an increase.
#pragma once

#include <array>
#include <string_view>

namespace sluice::observe {

inline constexpr auto kLimitNames = std::to_array<std::string_view>({
    // limits
    "adminConnections",
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
    "drainBytes",
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
    "probesPerSecond",
    "processorBuffer",
    "processorBufferTotal",
    "queuedControlFrames",
    "replayBuffer",
    "requestLineBytes",
    "resetsPerMinute",
    "responseFields",
    "stepWork",
    "tunnels",
    "tunnelsPerAddress",
    // timeouts
    "adminAnswer",
    "bodyIdle",
    "clientIdle",
    "connect",
    "drain",
    "expectContinue",
    "processor",
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
    // of rules, policies and processors
    "attemptIdle",
    "backendRequest",
    "maxConnections",
    "maxConnectionsPerEndpoint",
    "maxParallelRequests",
    "maxParallelRequestsPerEndpoint",
    "maxPendingRequests",
    "maxPendingRequestsPerEndpoint",
    "qosController",
    "retryBudget",
});

}  // namespace sluice::observe

// The server's side of gRPC over HTTP/2 without TLS, with one method that streams both ways: each message of the client
// gets an answer, or ends the call.
//
// It uses nghttp2 itself, not the gateway's codec, so that the gateway is tested against another implementation of
// HTTP/2. A client that sends messages faster than it takes the answers gets no more credit until it has taken them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "test/support/external/dialogue.h"

namespace sluice::external {

/// Answers the messages of one call, in their order; nullopt fails the call with INTERNAL.
using CallAnswers = std::function<std::optional<std::string>(std::string_view message)>;
using MakeCallAnswers = std::function<CallAnswers()>;

/// Makes dialogues that serve the method at `path` ("/package.Service/Method"); other calls end with UNIMPLEMENTED.
MakeDialogue makeGrpcDialogues(std::string path, MakeCallAnswers makeAnswers);

}  // namespace sluice::external

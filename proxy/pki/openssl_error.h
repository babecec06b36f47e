// Takes OpenSSL's description of an error out of the calling thread's error queue.
//
// A queue that is not empty makes the next SSL call of the thread look failed, so code that sees an OpenSSL call fail
// must drain it, at the latest by this function.
#pragma once

#include <string>

namespace sluice::pki {

/// Returns the reason of the oldest queued error in OpenSSL's words, or "unknown error"; empties the queue. The text
/// never holds input bytes.
std::string takeOpensslError();

}  // namespace sluice::pki

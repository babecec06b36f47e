// What OpenSSL says went wrong, taken out of the calling thread's error queue.
//
// A queue that is not empty makes the next SSL call of the thread look failed, so whoever sees an OpenSSL call fail
// drains it, at the latest by this.
#pragma once

#include <string>

namespace sluice::pki {

/// The reason of the oldest queued error in OpenSSL's words, or "unknown error"; empties the queue. Never holds input
/// bytes.
std::string takeOpensslError();

}  // namespace sluice::pki

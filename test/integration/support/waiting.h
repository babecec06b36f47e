// Waits for events. If this process can observe the event itself, a test waits for that: a line of a program's output,
// the end of a program, bytes at a socket. State that only another process knows is polled by eventually(), and nowhere
// else. No test takes the passing of time for the event itself.
#pragma once

#include <chrono>
#include <functional>

#include "test/integration/support/child_process.h"

namespace sluice::test {

/// Polls, at first often and then less so, until `holds` returns true; returns false if it does not in time.
bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience = kPatience);

/// For peers that are slow on purpose: one that sends bit by bit, or one that uses a name for longer than its TTL. At
/// least `time` has passed when it returns; on a busy machine it may be seconds more, and the test must hold then, too.
void letTimePass(std::chrono::milliseconds time);

}  // namespace sluice::test

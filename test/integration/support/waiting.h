// How tests wait. For an event if there is one that this process hears: a line of a program's output, an end of a
// program, bytes at a socket. What only another process knows is asked for again and again by eventually(), and there
// is no other place that does so. Nothing here or elsewhere takes the passing of time for the event itself.
#pragma once

#include <chrono>
#include <functional>

#include "test/integration/support/process.h"

namespace sluice::test {

/// Asks, at first often and then less so, until it holds; false if it does not in time.
bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience = kPatience);

/// For those who are slow on purpose: a peer that sends bit by bit, a name in use for longer than its TTL. At least so
/// much time is over when it returns; it may be seconds more on a busy machine, and the test must be right then, too.
void letTimePass(std::chrono::milliseconds time);

}  // namespace sluice::test

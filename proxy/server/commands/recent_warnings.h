// Shows the newest warnings of a running gateway to whoever asks for its status. They tell of requests that were denied
// or have failed, which no condition of an object does: a rate that is used up, a limit that was hit.
//
// A pure function.
#pragma once

#include <cstddef>
#include <string>

#include "proxy/content/value.h"

namespace sluice::server {

inline constexpr std::size_t kMostShownWarnings = 8;

/// Returns the newest warnings of the page /events as lines below a heading, the newest first; empty if there are none.
/// Warnings about conditions are left out, because the table of objects has the conditions themselves.
std::string recentWarnings(const content::Value& events);

}  // namespace sluice::server

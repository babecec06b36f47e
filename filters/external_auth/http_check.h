// The check of a request over HTTP: the request to the authorization server, and the meaning of its answer.
#pragma once

#include <cstddef>
#include <optional>

#include "filters/external_auth/auth_settings.h"

namespace sluice::filters {

/// Returns the head of the check, with views that live as long as the exchange. `body` is how many bytes follow.
http::RequestHead httpCheck(processing::Call& call, const AuthSettings& settings, std::size_t body);
/// Returns the decision once it is there; changes the request if it is permitted. The caller handles a callout that has
/// failed.
std::optional<processing::Verdict> judgeHttp(processing::Call& call, const AuthSettings& settings,
                                             const processing::Callout& callout);
/// Returns the denial if the head of the answer is one, with the body if that is complete. A denial takes effect even
/// if its body fails.
std::optional<processing::Verdict> denialIn(const processing::Callout& callout, bool isWhole);

}  // namespace sluice::filters

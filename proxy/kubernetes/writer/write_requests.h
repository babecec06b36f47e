// The requests by which objects of an API server are written.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "proxy/kubernetes/client/api_client.h"

namespace sluice::kubernetes {

/// Creates an object in the collection at `path`.
ApiRequest createRequest(std::string path, std::string body);
/// Changes the object at `path` by a JSON merge patch (RFC 7396).
ApiRequest mergePatchRequest(std::string path, std::string body);
enum class ApplyConflicts { kFail, kForce };
/// Applies the fields of `body` for a field manager. With kForce, fields that others have changed are overwritten;
/// otherwise the server refuses the request.
ApiRequest applyRequest(const std::string& path, std::string_view manager, ApplyConflicts conflicts, std::string body);
/// Deletes the object at `path` if it has that uid, because another object of the same name may have been created
/// meanwhile.
ApiRequest deleteRequest(std::string path, std::string_view uid);

}  // namespace sluice::kubernetes

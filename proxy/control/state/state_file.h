// The files in which a process keeps data for the next one.
//
// A file is replaced as a whole, by a rename, once its content is on disk. So if the process or the machine ends at any
// moment, the file has the old or the new content. Damage by others is found by a checksum. Only the owner may read
// such a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/secret.h"

namespace sluice::control {

/// Makes a folder that only its owner may enter, if it is not there. Errors name the path.
base::Status makeStateFolder(const std::string& path);

/// Replaces the content of a file by these fields, each of any bytes. Errors name the path.
base::Status writeStateFile(const std::string& path, const std::vector<std::string_view>& fields);

/// Returns the fields of a file. Errors name the path: there is none, it cannot be read, or it is damaged.
base::Result<std::vector<base::Secret>> readStateFile(const std::string& path);

}  // namespace sluice::control

// Reads the whole text of an admin document, as a client does.
#pragma once

#include <string>

#include "proxy/server/admin/admin_page.h"

namespace sluice::server {

/// The body is taken as a value: reading the copy leaves the document as it is.
inline std::string textOf(AdminBody body) {
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  while (body.read(out, out.size() + 4096) == AdminBody::BodyRest::kMore) {
  }
  return out.text();
}

}  // namespace sluice::server

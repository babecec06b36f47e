// A configuration by the digest of what it says: equal for two sets that are served alike, so that a reload can be
// nothing at all, and so that people and machines can compare what replicas serve (C-12).
//
// Pure functions. What counts of an object is everything but its `status` and the parts of its metadata that the API
// server writes: generation, resourceVersion, managedFields and the like. So equal revisions may still differ in what
// their statuses tell as observedGeneration. Of files nothing counts but their values: no comment, order, quoting,
// position or name, unless two documents define one object, of which the first is served. Empty documents and
// EndpointSlices are left out, because they change all the time without anybody having configured anything; a List
// counts as its items.
#pragma once

#include <string>
#include <vector>

#include "config/model/covers.h"
#include "config/model/object_identity.h"
#include "config/problem.h"
#include "config/yaml/document.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"
#include "proxy/pki/digest.h"

namespace sluice::config {

/// One object of a configuration: which it is, and the digest of what it says.
struct RevisionEntry {
  std::string name;  // bytes, not for people
  pki::Sha256Digest digest;
  Covers covers;
};

/// Whatever may hold a secret (Secrets, and what is no kind that we know, which may be a misspelt one) enters only
/// through an HMAC with `key`, so that nobody can try guesses of a secret against a published revision; sets without
/// such objects have the same revision under every key. `root` is neither empty nor a List.
RevisionEntry revisionEntry(const Value& root, const ObjectIdentity& identity, const base::Secret& key);

/// 12 hex digits. Of several entries for one object the order counts, and no other.
std::string revisionOf(std::vector<const RevisionEntry*> entries);

/// Of a set that is refused whole: texts, and why they could not be read, all by the key.
std::string revisionOfUnreadable(const std::vector<SourceText>& texts, const Problems& problems,
                                 const base::Secret& key);

}  // namespace sluice::config

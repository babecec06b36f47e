// The digest of a configuration's content. Two sets that are served alike have the same revision, so that a reload of
// an unchanged set does nothing, and so that people and machines can compare what replicas serve.
//
// These are pure functions. An object counts with everything except its `status` and the parts of its metadata that the
// API server writes: generation, resourceVersion, managedFields and the like. So sets with equal revisions may still
// differ in the observedGeneration of their statuses. A file counts only with its values, without comments, order,
// quoting, position and file name, unless two documents define one object: then the first is served. Empty documents
// and EndpointSlices are left out, because the latter change all the time without any change of configuration; a List
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

/// One object of a configuration: its identity and the digest of its content.
struct RevisionEntry {
  std::string name;  // bytes, not for people
  pki::Sha256Digest digest;
  Covers covers;
};

/// An object that may hold a secret (a Secret, or an object of an unknown kind, which may be a misspelt Secret) enters
/// only through an HMAC with `key`, so that nobody can test guesses of a secret against a published revision. Sets
/// without such objects have the same revision under every key. `root` is neither empty nor a List.
RevisionEntry revisionEntry(const Value& root, const ObjectIdentity& identity, const base::Secret& key);

/// Returns 12 hex digits. The order of entries matters only among several entries for one object.
std::string revisionOf(std::vector<const RevisionEntry*> entries);

/// Returns the revision of a set that is refused as a whole: of its texts and of the reasons why they could not be
/// read, all through an HMAC with the key.
std::string revisionOfUnreadable(const std::vector<SourceText>& texts, const Problems& problems,
                                 const base::Secret& key);

}  // namespace sluice::config
